#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line as TAP: words, exit statuses, what goes to standard error, terminals and pipes.
# GRAPHLINT names the program (build/graphlint).
set -u
cd "$(dirname "$0")/.." || exit 1
program=${GRAPHLINT:-build/graphlint}
case $program in /*) ;; *) program=$PWD/$program ;; esac
[ -x "$program" ] || { echo "1..0 # skip no program: make"; exit 0; }
export LC_ALL=C TERM=dumb
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99"
unset NO_COLOR FORCE_COLOR CLICOLOR_FORCE COLUMNS 2>/dev/null
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" || exit 1

# No configuration of folders above plays a part.
above=$PWD
while [ "$above" != / ]; do
	above=$(dirname "$above")
	[ -e "$above/.graphlint.yaml" ] && { echo "1..0 # skip $above has a .graphlint.yaml"; exit 0; }
done

# The founding graph, one that shares nothing, one with a statement that ends in the middle, no graph at all.
cat >two_ops.txt <<'X'
def forward(self, _stack0_0_ : torch.Tensor):
    contiguous = _stack0_0_.contiguous();  _stack0_0_ = None
    view = contiguous.view(1, 1024, -1);  contiguous = None
    return (view,)
X
cat >fresh.txt <<'X'
def forward(self, x : torch.Tensor):
    add = x + 1;  x = None
    return (add,)
X
cat >broken.txt <<'X'
def forward(self, x : torch.Tensor):
    y = (1
    sin = x.sin();  x = None
    return (sin,)
X
echo 'no graph here' >prose.txt
mkdir dir deep deep/er && cp two_ops.txt dir/ && cp prose.txt dir/ && cp fresh.txt deep/ && cp two_ops.txt deep/er/

n=0
# want STATUS NAME ARGS...: runs the program and compares the status; $tmp/out and $tmp/err are left to look at.
want() {
	wanted=$1 name=$2
	shift 2
	"$program" "$@" >out 2>err </dev/null
	report $? "$wanted" "$name"
}
report() {
	n=$((n + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $n - $3"
	else
		echo "not ok $n - $3"
		echo "# status $1, wanted $2"
		sed 's/^/# /' err | head -n 5
	fi
}
# has FILE TEXT, lacks FILE TEXT: looks at what the last run wrote.
has() {
	n=$((n + 1))
	if grep -qF -e "$2" "$1"; then echo "ok $n - $1 has: $2"; else echo "not ok $n - $1 has: $2"; head -n 5 "$1" | sed 's/^/# /'; fi
}
lacks() {
	n=$((n + 1))
	if grep -qF -e "$2" "$1"; then echo "not ok $n - $1 lacks: $2"; else echo "ok $n - $1 lacks: $2"; fi
}
empty() {
	n=$((n + 1))
	if [ -s "$1" ]; then echo "not ok $n - $1 is empty"; head -n 5 "$1" | sed 's/^/# /'; else echo "ok $n - $1 is empty"; fi
}
same() {
	n=$((n + 1))
	if cmp -s "$1" "$2"; then echo "ok $n - $3"; else echo "not ok $n - $3"; fi
}
esc=$(printf '\033')

want 0 'help' --help
has out '--fail-on=LEVEL'
empty err
want 0 'version' --version
has out 'graphlint '

want 2 'no input'
has err 'name files or folders'
empty out
want 2 'unknown option' --fromat=json two_ops.txt
has err "did you mean '--format'?"
want 2 'unknown word' --contract=frsh two_ops.txt
has err "did you mean 'fresh'?"
echo 'mylib::foo(Tensor(a! x) -> Tensor' >facts.txt
want 2 'facts with a fault' --facts facts.txt two_ops.txt
has err 'facts.txt:1:'
empty out
want 2 'facts that are not there' --facts nowhere.txt two_ops.txt
has err 'nowhere.txt: No such file or directory'

want 1 'a finding' two_ops.txt
has out 'warning[GL101] output-aliases-input'
has out 'two_ops.txt:3:5'
empty err
cp out plain
want 1 'the command check is the same' check two_ops.txt
same out plain 'check prints the same'
want 1 'again' two_ops.txt
same out plain 'two runs print the same'
want 0 'only errors count' --fail-on=error two_ops.txt
want 0 'nothing counts' --fail-on=never two_ops.txt
has out 'warning[GL101]'
want 0 'clean' fresh.txt
has out '0 errors, 0 warnings, 0 notes in 1 graph of 1 file'
want 0 'quiet' --quiet fresh.txt
empty out
want 1 'a folder' dir
has out 'dir/two_ops.txt:3:5'
empty err
want 1 'concise' --format concise two_ops.txt
has out 'two_ops.txt:3:5: warning: '
want 1 'json' --format json two_ops.txt
has out '"alias":"maybe_view_of_input","of":[0]'
want 1 'the passes in place of the report' --dump=alias two_ops.txt
has out 'maybe_view_of_input'
lacks out 'GL101'

want 0 'the rules' rules
has out 'GL204  note     self-copy'
want 0 'the rules for programs' rules --format=json
has out '"id": "GL101"'
want 0 'levels in force' rules --level=GL204=error --ignore=GL1
has out 'GL204  error    self-copy'
has out 'GL101  off      output-aliases-input'
want 0 'a rule by its name' explain self-copy
has out 'GL204 self-copy: '
has out '## What to do'
want 0 'a rule for programs' explain GL101 --format=json
has out '"name": "output-aliases-input"'
want 2 'no such rule' explain GL1O1
has err "did you mean 'GL101'?"
empty out
want 2 'no rule' explain
want 2 'rules read nothing' rules two_ops.txt
want 0 'a rule that is not selected' --select=GL2,self-copy two_ops.txt
lacks out 'GL101'
want 0 'a rule that is ignored' --ignore=output-aliases-input two_ops.txt
lacks out 'GL101'
want 1 'a selected rule' --select=GL101 --ignore=GL1 --format=concise two_ops.txt
has out 'warning: output 0'
want 1 'a level' --level=GL1=error --fail-on=error --format=concise two_ops.txt
has out 'error: output 0'
want 0 'a rule that is off' --level GL101=off two_ops.txt
want 2 'a word that is no rule' --ignore=GL77 two_ops.txt
has err "--ignore: no rule is called 'GL77'"
want 2 'a level that is none' --level=GL101=eror two_ops.txt
has err "did you mean 'error'?"
want 3 'what cannot be read counts, whoever ignores the finding' --ignore=GL9 broken.txt
lacks out 'GL901'
has err 'incomplete: '

# Reports in files: several at once, whole or not at all.
want 1 'reports in files' --output sarif:o.sarif -o junit:o.xml -o markdown:o.md -o json:o.json two_ops.txt
same out plain 'standard output has the text'
has o.sarif '"version": "2.1.0"'
has o.xml '<testsuites name="graphlint" tests="1" failures="1"'
has o.md '### '
"$program" --format=json two_ops.txt >p.json 2>err
same o.json p.json 'a file has what --format prints'
n=$((n + 1))
if [ "$(ls -l o.json | cut -c1-10)" = "$(umask 022; : >q; ls -l q | cut -c1-10)" ]; then echo "ok $n - mode"; else echo "not ok $n - mode"; fi
chmod 600 o.json && ln -s o.json l.json
want 1 'a file that is there, through a link' -o json:l.json --contract=strict two_ops.txt
has o.json '"contract": "strict"'
n=$((n + 1))
if [ -L l.json ] && [ "$(ls -l o.json | cut -c1-10)" = -rw------- ]; then echo "ok $n - link and mode stay"; else echo "not ok $n - link and mode stay"; fi
want 4 'a folder that is not there' -o json:no/where.json two_ops.txt
has err 'no/where.json: No such file or directory'
same out plain 'the text is printed all the same'
want 4 'a folder in place of a file' -o json:dir two_ops.txt
has err 'dir: Is a directory'
want 1 'nowhere' -o json:/dev/null two_ops.txt
want 2 'no file' -o json two_ops.txt
has err 'as sarif:out.sarif'
want 2 'no format' -o jsn:x two_ops.txt
has err "did you mean 'json'?"
want 0 'of another command' graph -o dot:o.dot two_ops.txt
has o.dot 'digraph program {'
want 2 'a primary place' --sarif-primary=log two_ops.txt
has err "--sarif-primary: it is dump or source"
if [ -w /dev/full ]; then
	cp o.json before.json
	want 4 'no room for a file' -o json:/dev/full two_ops.txt
	has err '/dev/full: No space left'
fi
# A limit on the size of files stops the writer in the middle: the file is as it was, and nothing lies beside it.
(ulimit -f 1; trap '' XFSZ; "$program" -o sarif:o.json two_ops.txt >out 2>err)
report $? 4 'no room in the middle of a file'
has o.json '"contract": "strict"'
n=$((n + 1))
if ls o.json.* >/dev/null 2>&1; then echo "not ok $n - no temporary file"; else echo "ok $n - no temporary file"; fi

want 0 'a baseline is written' --select=GL101 --write-baseline=base.json two_ops.txt
has err '1 finding written to base.json'
has base.json '"rule":"GL101"'
lacks out 'GL101'
cat - two_ops.txt >moved.txt <<'X'
V1201 02:33:53.413000 32219 torch/_dynamo/x.py:734] [7/3] [__other] text before it
X
sed -i 's/_stack0_0_/l_other_name_/g; s/view/renamed/; s/contiguous =/copy_1 =/; s/contiguous\.view/copy_1.view/; s/(view,)/(renamed,)/' moved.txt
sed -i 's/1024/2048/' moved.txt
want 0 'the baseline holds' --select=GL101 --baseline=base.json two_ops.txt
has out '1 finding suppressed'
want 0 'and for other names and numbers' --select=GL101 --baseline base.json moved.txt
has out '1 finding suppressed'
want 0 'json says so' --select=GL101 --baseline base.json --format=json two_ops.txt
has out '"suppressed":"baseline"'
sed 's/\.contiguous()/.t()/' two_ops.txt >other.txt
want 1 'another operator is another finding' --select=GL101 --baseline base.json other.txt
has err '1 entry of the baseline base.json is not found any more'
want 2 'no such baseline' --baseline=nowhere.json two_ops.txt
want 2 'no baseline' --baseline=facts.txt two_ops.txt
has err 'facts.txt:1:'
want 4 'a baseline that cannot be written' --write-baseline=nowhere/base.json two_ops.txt
has err 'nowhere/base.json: No such file or directory'
want 2 'only check writes one' suspects --write-baseline=b.json two_ops.txt

sed 's/$/  # graphlint: ignore[GL101] cloned later/' two_ops.txt >seen.txt
want 0 'a comment' --format=json seen.txt
has out '"suppressed":"inline"'

# Configuration: found upward from the dump, then from the working directory.
mkdir -p conf/sub other && cp two_ops.txt conf/sub && cp two_ops.txt other
want 0 'settings without a file' config
has out '# no configuration file'
has out 'contract: "auto"  # default'
(cd other && "$program" init 2>../err) && report $? 0 'init'
has other/.graphlint.yaml '#contract: fresh'
(cd other && "$program" init 2>../err)
report $? 2 'init does not write over a file'
has err '.graphlint.yaml is there already'
want 1 'what init writes changes nothing' other
has out 'settings of other/.graphlint.yaml'
cat >conf/.graphlint.yaml <<'X'
contract: strict
rules: {GL6: off}
exclude: [old*]
paths:
  - match: sub/**
    contract: fresh
    rules: {GL101: note}
baseline: base.json
fail-on: error
X
"$program" --select=GL102 --write-baseline=conf/base.json --isolated two_ops.txt >out 2>err
cp two_ops.txt conf/old.txt && cp two_ops.txt conf/new.txt
want 0 'settings of a folder' --format=concise --show=note conf/sub
has out 'note: output 0'
want 0 'a level of the command line' --level=GL101=warning --format=concise conf/sub
has out 'warning: output 0'
want 0 'an excluded file, and one that is not' --format=concise conf
lacks out 'conf/old.txt'
has out 'conf/new.txt:3:5: warning'
want 0 'a file that is named is read' --format=concise conf/old.txt
has out 'conf/old.txt:3:5: warning'
want 1 'no configuration' --isolated conf/sub
lacks out 'settings of'
want 0 'another configuration' --config=conf/.graphlint.yaml --fail-on=error two_ops.txt
has out 'settings of conf/.graphlint.yaml'
want 0 'of two configurations one holds' conf/new.txt other/two_ops.txt
has err 'other/.graphlint.yaml is not used: conf/.graphlint.yaml holds for this run'
(cd conf/sub && "$program" --quiet - <two_ops.txt >../../out 2>../../err)
report $? 0 'upward from the working directory'
want 0 'what is in force' config conf
has out 'contract: "strict"  # conf/.graphlint.yaml:1'
has out '"GL6": "off"  # conf/.graphlint.yaml:2'
has out 'baseline: "conf/base.json"'
want 0 'and what the command line changes' config --contract=aot --keep=identity=no conf
has out 'contract: {"name": "aot", "identity": false}  # --contract, --keep'
want 0 'for programs' config --format=json conf
has out '"file": "conf/.graphlint.yaml"'
has out '{"setting":"rules","value":{"GL6": "off"},"from":"conf/.graphlint.yaml:2"}'
echo 'contract: frsh' >bad.yaml
want 2 'a configuration with a fault' --config=bad.yaml two_ops.txt
has err "bad.yaml:1:11: unknown contract 'frsh' (did you mean 'fresh'?)"
echo 'rules: {GL1O1: off}' >bad.yaml
want 2 'a rule that there is not' --config=bad.yaml two_ops.txt
has err "bad.yaml:1: no rule is called 'GL1O1' (did you mean 'GL101'?)"
printf 'operators:\n  - "a::b(Tensor x) -> Tensor"\n  - "a::b(Tensor( x) -> Tensor"\n' >bad.yaml
want 2 'an operator with a fault' --config=bad.yaml two_ops.txt
has err 'bad.yaml:3:'
want 2 'no such configuration' --config=nowhere.yaml two_ops.txt
has err 'nowhere.yaml: No such file or directory'
printf 'suppress:\n  - {rule: GL101, graph: "for*", output: 0, reason: known}\n  - {rule: GL1, output: 7, path: "*.txt", reason: gone}\n' >hide.yaml
want 0 'hidden by the configuration' --config=hide.yaml --format=json two_ops.txt
has out '"suppressed":"config"'
has out 'the entry at hide.yaml:3 suppresses nothing'
cp two_ops.txt same.log
want 0 'an entry about other dumps' --config=hide.yaml --format=json other/../same.log
lacks out 'hide.yaml:3'
printf 'rules: {"\\e[31mx": off}\n' >esc.yaml
want 2 'escapes of a configuration stay text' --config=esc.yaml two_ops.txt
lacks err "$esc"

want 3 'no graph' prose.txt
has err 'TORCH_LOGS="graph_code,bytecode,graph_breaks"'
want 0 'no graph, allowed' --allow-incomplete prose.txt
has err 'TORCH_LOGS='
want 3 'no such file' nowhere.txt
has err 'nowhere.txt: No such file or directory'
want 3 'no such file beside a clean one' fresh.txt nowhere.txt
want 1 'no such file beside a finding' two_ops.txt nowhere.txt
has err 'nowhere.txt: No such file or directory'
has err 'could not be read'
want 1 'a command with a typing error' chekc two_ops.txt
has err "did you mean the command 'check'?"
want 3 'a statement that cannot be read' broken.txt
has out 'GL901'
has err 'incomplete: '
want 0 'a statement that cannot be read, allowed' --allow-incomplete broken.txt
has err 'incomplete: '
want 3 'a file above the limit' --max-file-size=50 fresh.txt
has err 'larger than the limit'
want 3 'folders too deep' --max-depth=1 deep
has err 'deep/er: folders nest deeper than the limit (--max-depth)'
{ cat fresh.txt; seq 1 60000; } >large.txt
want 4 'too little memory' --max-memory=200K large.txt
has err '--max-memory'
# What every run begins with, reading, analysis and report each need some: whatever is short, it is said in the same words.
for most in 1 1000 4000 10000 20000; do
	want 4 "no more memory than $most" --max-memory=$most two_ops.txt
	has err '--max-memory'
done
want 4 'no memory to list rules' rules --max-memory=1
has err '--max-memory'

"$program" --stdin-filename=pasted.log - <two_ops.txt >out 2>err
report $? 1 'standard input'
has out 'pasted.log:3:5'
"$program" - <two_ops.txt >out 2>err
report $? 1 'standard input without a name'
has out '<stdin>:3:5'
cp fresh.txt check
want 0 'a file with the name of a command' ./check
want 0 'a file with the name of a command behind --' -- check

# Commands besides check: none of them ends with 1.
want 0 'suspects' suspects two_ops.txt
has out '1. forward: may change the result, if it shares memory'
has out 'check: graphlint confirm forward:out0 two_ops.txt'
want 0 'suspects as JSON' suspects --format json two_ops.txt
has out '{"rank":1,"graph":"forward","reason":"output 0 (`view`) may be'
want 0 'a format before the command' --format json suspects two_ops.txt
has out '"suspects"'
want 0 'suspects of a compiler that keeps the view' suspects --keep=output_input=yes two_ops.txt
has out '1 of 1 graph not listed'
want 0 'graph' graph two_ops.txt
has out 'out 0 `view` may share memory with in 0 `_stack0_0_`'
want 0 'graph for Graphviz' graph --format=dot two_ops.txt
has out 'digraph program {'
want 0 'graph as a picture' graph --format=svg two_ops.txt
has out '<svg xmlns="http://www.w3.org/2000/svg"'
has out 'may be a view of in 0'
want 1 'a page' --format=html two_ops.txt
has out '<!DOCTYPE html>'
lacks out 'src='
want 2 'a format of another command' graph --format=json two_ops.txt
has err "unknown format 'json' of graph"
want 2 'a format where there is none' confirm --format=json forward:out0 two_ops.txt
has err 'confirm has one form only'
want 0 'confirm' confirm forward:out0 two_ops.txt
has out 'TARGETS = ["contiguous", "view"]'
cp out backend.py
want 2 'confirm: no such output' confirm forward:out7 two_ops.txt
has err '`forward` has 1 output'
empty out
want 2 'confirm: no such graph' confirm foward:out0 two_ops.txt
has err "did you mean 'forward'?"
want 2 'confirm: no boundary' confirm two_ops.txt
has err 'nothing to read'
want 2 'confirm without anything' confirm
has err 'confirm needs a boundary'
want 3 'confirm: no such file' confirm forward:out0 two_ops.txt nowhere.txt
want 3 'graph of a broken file' graph broken.txt
want 3 'suspects of no graph' suspects prose.txt
want 0 'capture' capture
has out 'TORCH_LOGS="graph_code,bytecode,graph_breaks"'
want 2 'capture takes no files' capture two_ops.txt
has err 'capture takes no files'
want 0 'confirm: a written input' confirm --torch=2.6 g1:in0 fresh.txt
cp out hide.py

# The backend compiles as Python and does what it says, with stand-ins for torch and for a captured graph.
if command -v python3 >/dev/null; then
	cat >try.py <<'X'
import sys, types
sys.modules["torch"] = types.ModuleType("torch")
class Node:
    def __init__(self, op, target, args=()):
        self.op, self.target, self.args = op, target, args
class Tensor:
    cloned = False
    def clone(self):
        copy = Tensor()
        copy.cloned = True
        return copy
class Module:
    def __init__(self, *nodes):
        self.graph = types.SimpleNamespace(nodes=nodes)
    def forward(self, x):
        return (x,)
def load(path):
    space = {}
    exec(compile(open(path).read(), path, "exec"), space)
    return space["cut"]
def add(a, b):
    return a
x = Node("placeholder", "x")
this = Module(x, Node("call_method", "contiguous"), Node("call_method", "view"), Node("output", "output"))
other = Module(x, Node("call_method", "contiguous"), Node("output", "output"))
cut = load("backend.py")
assert cut(this, [])(Tensor())[0].cloned
assert not cut(other, [])(Tensor())[0].cloned
cut = load("hide.py")
assert cut(Module(x, Node("call_function", add), Node("output", "output")), [])(Tensor())[0].cloned
assert not cut(this, [])(Tensor())[0].cloned
X
	python3 -m py_compile backend.py 2>err && python3 -m py_compile hide.py 2>>err && python3 try.py >out 2>>err
	report $? 0 'the backend runs'
fi

if [ -w /dev/full ]; then
	"$program" two_ops.txt >/dev/full 2>err
	report $? 4 'no room for the report'
	has err 'standard output: '
fi
"$program" two_ops.txt >&- 2>err
report $? 4 'standard output is closed'
{ sleep 1; "$program" two_ops.txt 2>err; echo $? >status; } | true
report "$(cat status)" 1 'nobody reads the report'
empty err

want 1 'no colour without a terminal' two_ops.txt
lacks out "$esc"
want 1 'colour always' --color=always two_ops.txt
has out "$esc"
FORCE_COLOR=1 want 1 'FORCE_COLOR' two_ops.txt
has out "$esc"
CLICOLOR_FORCE=1 want 1 'CLICOLOR_FORCE' two_ops.txt
has out "$esc"
NO_COLOR=1 FORCE_COLOR=1 want 1 'NO_COLOR wins' two_ops.txt
lacks out "$esc"
NO_COLOR=1 want 1 'the option wins' --color=always two_ops.txt
has out "$esc"
FORCE_COLOR=1 want 1 'the option wins' --color=never two_ops.txt
lacks out "$esc"

{
	echo 'def forward(self, x : torch.Tensor):'
	printf '    # File: m.py:3 in f, code: v = x.view(-1) # \303\251\033[2J\n'
	echo "    view = x.view(-1, $(seq -s ', ' 1 60000));  x = None"
	echo '    return (view,)'
} >long.txt
want 1 'a line of 350,000 characters' long.txt
n=$((n + 1))
if [ "$(wc -L <out)" -le 300 ]; then echo "ok $n - lines are cut"; else echo "not ok $n - lines are cut"; fi
lacks out "$esc"

# The rule of the README works as it stands there, and every predicate is told of.
readme=$OLDPWD/README.md
mkdir -p lint/rules/dumps
sed -n '/^id: MY001/,/^```/p' "$readme" | sed '$d' >lint/rules/clone-of-view.yaml
cat >lint/rules/dumps/written.txt <<'X'
def forward(self, x : torch.Tensor):
    c = x.contiguous();  x = None
    v = c.view(-1);  c = None
    mul_ = v.mul_(2)
    return (v,)
X
sed 's/    mul_.*/    mul = v.mul(2)/' lint/rules/dumps/written.txt >lint/rules/dumps/copied.txt
want 0 'the rule of the README' test lint/rules
has out '2 tests of 1 rule: 0 failed'
want 0 'and no condition of it is missed' test --negate lint/rules
has out '3 conditions: 0 negated without a test that fails'
want 1 'beside the built-in rules' --rules=lint/rules --select=MY --format=concise lint/rules/dumps
has out 'leaves `forward` in the memory of `x` if x is already contiguous, and is written later [MY001]'
sed -i 's/copied.txt/written.txt/' lint/rules/clone-of-view.yaml
want 1 'a test that fails' test lint/rules
has out 'it has to stay silent, and has 1 finding'
has out 'lint/rules/dumps/written.txt:3: warning: '
want 1 'for programs' test --format=json lint/rules
has out '"failed": 1,'
sed -i 's/is_input(/is_inptu(/' lint/rules/clone-of-view.yaml
want 2 'a rule with a fault' test lint/rules
has err "clone-of-view.yaml:10:5: there is no predicate 'is_inptu' (did you mean 'is_input'?)"
empty out
want 2 'and where it is used' --rules=lint/rules two_ops.txt
want 2 'no folder' test nowhere
has err 'nowhere: No such file or directory'
lacking=
for predicate in $(sed -n 's/^PREDICATE(\([a-z_]*\),.*/\1/p' "$OLDPWD/analyzer/predicates.def"); do
	grep -qF -e "\`$predicate(" "$readme" || lacking="$lacking $predicate"
done
n=$((n + 1))
if [ -z "$lacking" ]; then echo "ok $n - predicates in the README"; else echo "not ok $n - the README lacks$lacking"; fi

# Every option stands in the README, every limit with its default.
readme=$OLDPWD/README.md
missing=
for option in $("$program" --help | sed -n 's/^.* --\([a-z-]*\).*  *.*/\1/p' | sort -u); do
	grep -qF -e "--$option" "$readme" || missing="$missing $option"
done
"$program" --help | sed -n 's/^ *--\(max-[a-z-]*\)=N *at most N (default \([0-9A-Z]*\)).*/`--\1` | \2 /p' >limits
while read -r row; do
	grep -qF -e "$row" "$readme" || missing="$missing $row"
done <limits
n=$((n + 1))
if [ -z "$missing" ] && [ -s limits ]; then echo "ok $n - README"; else echo "not ok $n - README lacks$missing"; fi

echo "1..$n"
