"""What is told of the results; every report is made from `CaseResult` alone."""
