"""The text tools print what real ones print, and end as they end."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.embedded.nodes import in_container

FILES = """
printf 'b 20 x\\na 3 y\\nc 100 z\\na 3 y\\n\\nB 7 w\\n' > t
printf 'root:x:0:0:root:/root:/bin/sh\\nnobody:x:65534:65534::/none:/bin/false\\n' > p
printf 'cpu 10.5%%\\nmem 80%%\\n' > u
"""
SCRIPTS = """
grep -n a t
grep -c '^a' t; grep -v a t; grep -i b t; grep -x 'a 3 y' t; grep -w 3 t
grep -o '[0-9][0-9]*' t; grep -oE '[0-9]+' t; grep -E '^(a|c) [0-9]{1,3}' t; grep 'a\\|c' t
grep -q nothing t; echo $?; grep a none; echo $?; grep -l a t p; grep -h root t p; grep -H 7 t; grep -m 1 a t
grep -A1 100 t; grep -B1 100 t; grep -e a -e c t; grep -F '.' t; echo $?; grep '[[:upper:]]' t; grep 'x$' t
grep -vE '^$' t; grep '\\.' u; grep -n '' t; grep -c '' t; grep -E 'a{2}' t; grep 'a*b' t
sed 's/a/X/;s/3/[&]/' t; sed -n '2p;$p' t; sed '2,4d' t; sed '/a/d' t; sed -n '/^c/,/^$/p' t
sed -E 's/([a-z]) ([0-9]+)/\\2-\\1/' t; sed 's/\\([a-z]\\) \\(.*\\)/\\2 \\1/' t
sed 's/[0-9]/#/g' t; sed 's/[0-9]/#/2' t
sed '1!G;h;$!d' t; sed -n '$=' t; sed 'N;s/\\n/+/' t
sed 's|/|_|g' p; sed '/^$/d;s/ /,/g' t; sed -e '1d' -e 's/y/Y/' t
sed '3q' t; sed -n '1~2p' t; sed 'y/abc/ABC/' t; sed '2i\\inserted' t; sed '2a\\appended' t; sed '2c\\changed' t
sed -i 's/a/Z/' t; cat t; sed 's/A/b/I' t; sed '/c/{s/1/2/;p}' t; sed '$!N;P;D' t
awk '{print $1, $NF}' t; awk 'NR>1 && $2>5' t; awk '/a/,/c/' t; awk -F: '{print $1"-"$NF}' p; awk 'END{print NR}' t
awk '{s+=$2} END{print s, s/NR}' t; awk '{c[$1]++} END{for(k in c) print k, c[k]}' t | sort; awk '!seen[$0]++' t
awk '{printf "%-5s|%5d|%.2f\\n", $1, $2, $2}' t; awk '{print length($0), toupper($1), substr($0, 2, 3)}' t
awk 'BEGIN{x=1; while(x<20) x*=2; print x; print 7%3, 2^10, 1/4, 10/2, 1e6, 0.1+0.2, -3}' /dev/null
awk '{gsub(/[0-9]+/, "<&>"); print}' t; awk '{sub("a", "b"); print NF": "$0}' t; awk -v n=5 '$2>n{print n, $2}' t
awk '{$2=""; print}' t; awk '{n=split($0, parts, " "); print n, parts[1]}' t
awk 'BEGIN{print index("hello","ll"), match("xay",/a/)}'
awk '$1=="a"{next} {print}' t; awk 'NF' t
awk 'BEGIN{OFS="-"} {$1=$1; print}' t; awk '{print ($2>10)?"big":"small"}' t
awk '{gsub("%",""); if ($2+0 >= 50) print $1, "hot"; else print $1, "cold"}' u
awk '$2 ~ /^1/' t; awk '$1 !~ /a/ {print $1}' t
awk 'BEGIN { for (i = 1; i <= 3; i++) { if (i == 2) continue; print i } exit 3 }'; echo $?
awk 'function f(x) { return x * 2 } { print f($2) }' t
awk 'BEGIN { print substr("hello", 2, 2) "|" substr("hello", 4) }'
awk 'BEGIN { a["x"]=1; delete a["x"]; print ("x" in a), length(a); print 1==1.0, "a"<"b", "10"<"9", 10<9 }'
cut -d' ' -f1 t; cut -d: -f1,7 p; cut -c1-3 t; cut -d: -f2- p; cut -d, -f1 t; cut -s -d: -f1 t
sort t; sort -r t; sort -k2 -n t; sort -k2,2nr -k1,1 t; sort -u t
sort -t: -k3 -n p; sort -f t; sort -n -k2 t | tail -1
uniq t; uniq -c t; uniq -d t; sort t | uniq -u; sort t | uniq -c | sort -rn
tr a-z A-Z < t; tr -d ' ' < t; tr -s ' ' < t; tr '\\n' ',' < t
tr -cd '0-9\\n' < t; echo abc | tr abc xy; tr -d '[:digit:]' < t
wc -l t; wc -w < t; wc -c t; cat t p | wc; head -n 2 t
head -c 5 t; tail -n 2 t; tail -n +3 t; head -n -2 t; tail -c 4 t
seq 3; seq 2 4; seq 1 2 7; seq -s, 4; seq 5 -2 1; seq -w 8 11
echo 1 2 3 4 5 | xargs -n 2 echo x; ls t p | xargs -I{} echo '[{}]'
printf '%s\\n' a b | xargs; echo | xargs -r echo none; printf 'a b\\0c' | xargs -0 -n1 echo; echo t | xargs wc -l
basename /a/b/c.txt .txt; dirname /a/b; expr 3 + 4 '*' 2
expr abc = abc; expr 7 / 0; echo $?; expr 5 '>' 3; expr 0; echo $?
paste -d, t p; paste -s -d+ t; rev t; tac t; nl p; test a = a -a b = b; echo $?; [ 3 -gt 2 ] && [ ! -e none ]; echo $?
printf '%05.1f|%x|%o|%c|%s|%%|%b\\n' 3.14159 255 8 abc str 'a\\tb'
printf '%s-%s\\n' a b c; printf 'x\\n' ; printf '%d\\n' abc; echo $?
find . -name 't*' -type f; find . -type f | sort; mkdir -p d/e; touch d/e/f
find d; find . -maxdepth 1 -name '[pt]' | sort; find d -empty
env -i A=1 env; A=2 sh -c 'echo $A'; sh -c 'echo $0 $1' x y
date -d @0 +%Y-%m-%dT%H:%M:%S; date -u -d '2020-01-02 03:04:05' +%s
dd if=t of=c bs=4 count=2 2>/dev/null; cat c; dd if=t bs=1 skip=2 count=3 2>/dev/null
head -c 3 /dev/zero | tr '\\0' x; yes | head -2
cp t t2; mv t2 t3; cat t3 | wc -l; rm t3; ls; ls -d d none; echo $?
du -s none; echo $?; mktemp -u /x/XXX | cut -c1-3; touch -c q; ls q
""".strip().splitlines()


@pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("mawk", "sed", "grep", "dash"))
    or not Path("/etc/debian_version").exists(),
    reason="needs Debian's tools to compare with",
)
@pytest.mark.parametrize("script", SCRIPTS)
def test_same_output_and_exit_code(tmp_path: Path, script: str) -> None:
    real = subprocess.run(
        ["/bin/sh", "-c", FILES + script],
        cwd=tmp_path,
        capture_output=True,
        timeout=20,
        check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
    )
    simulated = in_container(f"cd /mnt\n{FILES}{script}", image="debian:12")
    assert (simulated.out, simulated.code) == (real.stdout.decode("latin-1"), real.returncode), simulated.err
