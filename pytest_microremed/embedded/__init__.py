"""An embedded Kubernetes: the API that real clients speak, over simulated nodes and workloads.

Two halves. `api/` is the API server: it stores objects and knows nothing of simulation. `sim/` is everything that
acts on them: controllers, scheduler, kubelet, network, Chaos Mesh. `sim` uses `api.store`; `api` reaches `sim` only
through the protocol `api.runtime.Runtime`. Nothing here imports the rest of the package.
"""
