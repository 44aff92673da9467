"""Probes only read: what is taken, what is refused, and that nothing can be smuggled past the rule."""

from __future__ import annotations

import pytest

from pytest_microremed.playbook.reading import RefusedError, split

TAKEN = """\
kubectl get pods
kubectl get pods -A -o wide --show-labels
kubectl -n shop get pods,services -l app=web --sort-by=.metadata.name
kubectl --namespace=shop get deploy web -o yaml
kubectl get pods -owide -nshop
kubectl get pods --watch=false
kubectl get events --field-selector involvedObject.name=web
kubectl get pod web -o jsonpath='{.status.phase}{"\\n"}'
kubectl get --raw /apis/metrics.k8s.io/v1beta1/namespaces/shop/pods
kubectl describe pod web --show-events=false
kubectl logs web -c server --tail=20 -p --since 5m --timestamps
kubectl top pods --containers --sort-by=cpu
kubectl explain deployment.spec --recursive
kubectl api-resources --namespaced=true
kubectl version --client -o json
kubectl cluster-info
kubectl events --for deployment/web --types=Warning
kubectl auth can-i --list
kubectl auth whoami
kubectl rollout status deploy/web --timeout=5s
kubectl rollout history deploy/web --revision=2
kubectl exec web -- ps aux
kubectl exec -it deploy/web -c probe -- cat /etc/hosts
kubectl exec web -- /bin/ls -la /var/log
kubectl exec web -- env
kubectl exec web -- ping -c 3 -W 2 cartservice
kubectl exec web -- wget -qO- -T 2 http://cartservice:80/health
kubectl exec web -- wget -q -O - http://cartservice
kubectl exec web -- wget --spider -q http://cartservice
kubectl exec web -- curl -sS -m 2 -o /dev/null -w '%{http_code}' http://cartservice
kubectl exec web -- curl -so /dev/null -I cartservice:8080
kubectl exec web -- nc -zv -w 2 redis 6379
kubectl exec web -- timeout 2 nc -z redis 6379
kubectl exec web -- nslookup cartservice
kubectl exec web -- top -bn1
kubectl exec web -- top -b -n 1
kubectl exec web -- tc -s qdisc show dev eth0
kubectl exec web -- ip -s link show
kubectl exec web -- ip addr
kubectl exec web -- ss -tlnp
kubectl exec web -- date +%s
kubectl exec web -- tail -20 /var/log/service/log
kubectl exec web -- tail -n 20 /var/log/service/log
kubectl exec web -- grep -c 'a|b' /etc/hosts
kubectl exec web -- sh -c "ps aux | grep stress | head -3 2>/dev/null; date && ls '/var/log' || true"
kubectl exec web -- sh -c 'ps 2>&1 | wc -l'
kubectl exec web -- bash -c 'sleep 2; cat /proc/loadavg > /dev/null'"""

REFUSED = """\
the command is empty:
cannot be split into words: kubectl get pods "
only kubectl can be used: ls /
only kubectl can be used: /usr/bin/kubectl get pods
the verb must come first: kubectl
the verb must come first: kubectl -n shop
the verb must come first: kubectl delete pod web
the verb must come first: kubectl -n get delete pod web
the verb must come first: kubectl apply -f x.yaml
the verb must come first: kubectl config view --raw
the verb must come first: kubectl port-forward web 80
the verb must come first: kubectl cp web:/etc/passwd /tmp/x
the verb must come first: kubectl --all-namespaces get delete pods --all
the verb must come first: kubectl -o wide get pods
there is no shell: kubectl get pods | grep web
there is no shell: kubectl get pods>/tmp/pods
there is no shell: kubectl get pods; kubectl delete pod web
there is no shell: kubectl get pods && rm -rf /
there is no shell: kubectl get pods 2>&1
is refused in a probe: kubectl get pods --kubeconfig=/root/.kube/config
is refused in a probe: kubectl get pods --kubeconfig /root/.kube/config
is refused in a probe: kubectl get pods -s http://127.0.0.1:1
is refused in a probe: kubectl get pods --server=http://127.0.0.1:1
is refused in a probe: kubectl get pods --token abc
is refused in a probe: kubectl get pods --as=admin
is refused in a probe: kubectl get pods --as-group=system:masters
is refused in a probe: kubectl get pods --context=admin
is refused in a probe: kubectl get pods --cluster=other
is refused in a probe: kubectl get pods --user=admin
is refused in a probe: kubectl get pods -v=9
is refused in a probe: kubectl get pods --cache-dir=/tmp/x
is refused in a probe: kubectl get pods --profile=cpu --profile-output=/tmp/x
is refused in a probe: kubectl get -k /etc
is refused in a probe: kubectl get pods -Av9
is refused in a probe: kubectl cluster-info --output-directory=/tmp dump
dump writes files: kubectl cluster-info dump
following, watching and files are refused: kubectl get pods -w
following, watching and files are refused: kubectl get pods -Aw
following, watching and files are refused: kubectl get pods --watch
following, watching and files are refused: kubectl get pods --watch=true
following, watching and files are refused: kubectl logs -f web
following, watching and files are refused: kubectl logs --follow web
following, watching and files are refused: kubectl get -f /etc/passwd
following, watching and files are refused: kubectl exec web -f /etc/passwd -- ps
reading files of the host: kubectl get pods -ojsonpath-file=/etc/passwd
reading files of the host: kubectl get pods -o=go-template-file=/etc/passwd
reading files of the host: kubectl get pods --output custom-columns-file=/etc/passwd
reading files of the host: kubectl get pods -o templatefile --template /etc/passwd
has no value: kubectl get pods -n
only auth can-i and whoami: kubectl auth reconcile
only auth can-i and whoami: kubectl auth --list can-i reconcile
only rollout history and status: kubectl rollout restart deploy/web
only rollout history and status: kubectl rollout --show-managed-fields status restart deploy/web
-- is for exec: kubectl get -- pods
write -- before the program: kubectl exec web ps
name one pod: kubectl exec -- ps
name one pod: kubectl exec web ps -- ps
no program is named: kubectl exec web --
kill is refused: kubectl exec web -- kill 1
rm is refused: kubectl exec web -- timeout 5 rm x
/tmp/ps is refused: kubectl exec web -- /tmp/ps
env without arguments: kubectl exec web -- env rm x
hostname without a name: kubectl exec web -- hostname other
ping -c N: kubectl exec web -- ping cartservice
ping -c N: kubectl exec web -- ping -c 100000 cartservice
ping -c N: kubectl exec web -- ping -f -c 3 cartservice
wget -qO- URL: kubectl exec web -- wget http://cartservice
wget -qO- URL: kubectl exec web -- wget -O /app/x http://cartservice
wget -qO- URL: kubectl exec web -- wget -qO- --post-data=x http://cartservice
writes no file: kubectl exec web -- curl -XDELETE http://cartservice
writes no file: kubectl exec web -- curl -X GET -X DELETE http://cartservice
writes no file: kubectl exec web -- curl --reque DELETE http://cartservice
writes no file: kubectl exec web -- curl -d a=b http://cartservice
writes no file: kubectl exec web -- curl http://cartservice -d a=b
writes no file: kubectl exec web -- curl -o /app/x -o /dev/null http://a http://b
writes no file: kubectl exec web -- curl -w '%output{/app/x}' http://cartservice
writes no file: kubectl exec web -- curl gopher://redis:6379/_FLUSHALL
nc -z HOST PORT: kubectl exec web -- nc redis 6379
tail without -f: kubectl exec web -- tail -f /var/log/x
tail without -f: kubectl exec web -- tail -20f /var/log/x
tail without -f: kubectl exec web -- tail --follow=name /var/log/x
top -b -n N: kubectl exec web -- top
tc qdisc, class or filter show: kubectl exec web -- tc qdisc del dev eth0 root
ip addr, route, link or neigh: kubectl exec web -- ip link set eth0 down
ss with options that only show: kubectl exec web -- ss -K dst 10.0.0.1
sort with options that only order: kubectl exec web -- sort -o /app/x /app/y
date [+FORMAT]: kubectl exec web -- date -s 12:00
date [+FORMAT]: kubectl exec web -- date 010100002030
sleep N, N below 10: kubectl exec web -- sleep 1000
allowed only as sh -c SCRIPT: kubectl exec web -- sh
allowed only as sh -c SCRIPT: kubectl exec web -- sh /app/x
allowed only as sh -c SCRIPT: kubectl exec web -- sh -c ps x
kill is refused: kubectl exec web -- sh -c "ps; kill 7"
rm is refused: kubectl exec web -- sh -c "ps|rm -rf /"
rm is refused: kubectl exec web -- sh -c "ps && rm -rf /"
while is refused: kubectl exec web -- sh -c "while true; do kill 1; done"
X=1 is refused: kubectl exec web -- sh -c "X=1 rm x"
> is refused in sh -c: kubectl exec web -- sh -c "cat /x > /y"
> is refused in sh -c: kubectl exec web -- sh -c "cat /x >/dev/null.txt"
>> is refused in sh -c: kubectl exec web -- sh -c "cat /x>>/y"
& is refused in sh -c: kubectl exec web -- sh -c "ps & ps"
( is refused in sh -c: kubectl exec web -- sh -c "(ps)"
<( is refused in sh -c: kubectl exec web -- sh -c "cat <(ps)"
line breaks are refused: kubectl exec web -- sh -c "cat $(rm x)"
line breaks are refused: kubectl exec web -- sh -c 'cat `rm x`'
line breaks are refused: kubectl exec web -- sh -c 'echo $IFS'"""


@pytest.mark.parametrize("command", TAKEN.splitlines())
def test_taken(command: str) -> None:
    words = split(command)
    assert words[0] == "kubectl"
    assert all(words)


@pytest.mark.parametrize("line", REFUSED.splitlines())
def test_refused(line: str) -> None:
    reason, _, command = line.partition(": ") if ": " in line else (line.rstrip(":"), "", "")
    with pytest.raises(RefusedError) as caught:
        split(command)
    assert reason in str(caught.value)


def test_a_line_break_separates_commands_in_a_shell_but_not_here() -> None:
    with pytest.raises(RefusedError, match="line breaks"):
        split("kubectl exec web -- sh -c 'ps\nrm x'")


def test_words_are_those_of_a_shell() -> None:
    command = """kubectl get pods -l 'app in (a,b)' -o "jsonpath={.items[*].metadata.name}" --tail=\\5"""
    assert split(command)[3:] == [
        "-l",
        "app in (a,b)",
        "-o",
        "jsonpath={.items[*].metadata.name}",
        "--tail=5",
    ]
