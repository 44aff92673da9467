"""A kubeconfig whose server nobody is."""

from __future__ import annotations

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: nowhere, cluster: {server: 'http://127.0.0.1:9'}}]
users: [{name: agent, user: {token: not-a-real-token}}]
contexts: [{name: nowhere, context: {cluster: nowhere, user: agent, namespace: shop}}]
current-context: nowhere
"""
