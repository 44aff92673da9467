"""The simulated cluster behind the API: controllers, nodes, network, Chaos Mesh."""
