"""The handle on a Kubernetes cluster, embedded or real."""
