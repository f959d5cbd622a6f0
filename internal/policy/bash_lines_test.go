package policy

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/posix"
)

func contextWithTimeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// endGroup lets the end of a command end what it started.
func endGroup(cmd *exec.Cmd) {
	posix.Group(cmd)
}

// lineMaker makes command lines: from templates that nest, and from earlier lines that it cuts,
// joins and disturbs. The templates hold what is known, the disturbances find what is not.
type lineMaker struct {
	*rand.Rand
	commands []string
	plain    bool // most lines in forms that rules may allow
	earlier  []string
	forms    []string // nil: those of around
	words    []string // what W in them stands for
}

func pick[T any](m *lineMaker, from []T) T { return from[m.IntN(len(from))] }

func (m *lineMaker) next() string {
	line := m.line(m.IntN(4))
	calm := 1
	if m.forms != nil {
		calm = 3
	}
	for range max(0, m.IntN(4+calm)-calm) {
		line = m.disturb(line)
	}
	m.earlier = append(m.earlier, line)
	if len(m.earlier) > 500 {
		m.earlier = m.earlier[250:]
	}
	return line
}

// plainOnes counts the forms at the start of around that a rule may allow.
const plainOnes = 28

// around holds text around one command, §; around a quoted text, Q; around two commands, § and &&&.
func around() []string {
	return []string{
		"§", "§", "§; &&&", "§ && &&&", "§ || &&&", "§ | &&&", "§ |& &&&", "§\n&&&", "§>/dev/null", "§ 2>&1", "§ >/dev/null 2>&1", "§ &>/dev/null", "§ # c\n&&&", "§ # c \\\n&&&", "§;#\\\n&&&", "§ #\\\\\n&&&",
		"# c \\\n§", "#\\\n§", "§ & &&&", "! §", "time §", "time -p §", "ls | time -p §", "ls | time §", "! time §", "time ! §", "time -- §",
		"§ {PATH}>/dev/null; &&&", "§ {X}>&1; $X", "§ >f", "§ <<<a", "{fd}>/dev/null §", ">/dev/null §", "§<&0",
		"$(§)", "echo $(§)", "echo \"$(§)\"", "`§`", "echo \"`§`\"", "cat <(§)", "§ >(&&&)", "(§)", "{ §; }", "if true; then §; fi", "for i in a; do §; done",
		"while §; do break; done", "until §; do break; done", "case a in a) § ;; esac", "f() { §; }; f", "function f { §; }; f", "ls() { §; }; ls", "coproc §", "select i in a; do §; break; done <<<1",
		"[[ a == a ]] && §", "(( 1 )) && §", "cat <<E\n$(§)\nE", "cat <<'E'\n$(§)\nE", "cat <<E # \\\n§\nE\n&&&", "sh <<'E'\n§\nE", "cat <<\\E\n§\nE\n&&&", "cat <<-E\n\t§\n\tE\n&&&",
		"eval §", "eval Q", "env §", "env -i A=1 PATH=\"$PATH\" §", "env -S Q", "env -vS Q", "env --split-string=Q", "env --split Q", "env -u A §", "timeout 5 §", "timeout -k 1 5 §", "timeout -s KILL 5 §",
		"nice §", "nice -n 5 §", "nice -5 §", "nohup §", "stdbuf -o L §", "stdbuf -oL §", "setsid -w §", "setsid §", "command §", "command -p §", "exec §", "exec -a n §", "builtin eval §", "command eval Q",
		"xargs §", "echo x | xargs §", "echo x | xargs -I{} §", "echo Q | xargs -I{} sh -c {}", "echo Q | sh", "printf %s Q | bash", "echo zap | xargs env", "echo zap | xargs -I{} {}",
		"echo 'git push' | xargs env", "find . -maxdepth 0 -exec § {} \\;", "find . -maxdepth 0 -exec sh -c Q \\;", "find . -maxdepth 0 -execdir § \\;", "find . -maxdepth 0 -ok § \\; <<<y",
		"sh -c Q", "bash -c Q", "bash -ec Q", "bash -c -e Q", "bash -o pipefail -c Q", "sh -c Q a b", "bash --norc -c Q", "bash <(echo Q)", ". <(echo Q)", "source /dev/stdin <<<Q", "bash <<<Q", "bash -s <<<Q",
		"flock f §", "flock f -c Q", "flock -c Q f", "flock -x f §", "script -qc Q /dev/null", "script -q -c Q", "script --command Q", "script /dev/null -qc Q", "setpriv §", "setpriv --no-new-privs §",
		"setarch -R §", "setarch x86_64 §", "prlimit --nofile=100 §", "prlimit §", "choom -n 0 §", "choom -n 0 -- §", "ionice §", "ionice -c 3 §", "taskset 1 §", "taskset -c 0 §", "chrt -b 0 §", "chrt -o 0 §",
		"awk 'BEGIN{system(\"§\")}'", "awk 'BEGIN{\"§\"|getline}'", "sed -n '1e §' bin", "echo a | sed 'e §'", "echo a | sed 's/a/§/e'", "tar cf f.tar . -I Q", "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=Q .",
		"echo a | split --filter=Q", "echo a | split --filter Q", "perl -e 'system(\"§\")'", "perl -e 'exec qw(§)'", "watch -g Q", "parallel ::: Q", "parallel § ::: a",
		"printf -v 'a[$(§)]' 1", "test -v 'a[$(§)]'", "[ -v 'a[$(§)]' ]", "read 'a[$(§)]' <<<1", "declare 'a[$(§)]=1'", "typeset 'a[$(§)]=1'", "let 'a[$(§)]=1'", "echo $[ a['$(§)'] ]", "unset 'a[$(§)]'",
		"x='a[$(§)]'; echo $((x))", "x='a[$(§)]'; echo $[x]", "x='a[$(§)]'; ((x))", "x='a[$(§)]'; let x", "[[ 'a[$(§)]' -eq 0 ]]", "[[ -v 'a[$(§)]' ]]", "x='a[$(§)]'; [[ x -lt 1 ]]", "declare -i x='a[$(§)]'", "declare -n r='a[$(§)]'; echo $r",
		"x='a[$(§)]'; echo ${y:x}", "x='a[$(§)]'; echo ${y[x]}", "x='$(§)'; echo \"${x@P}\"", "x='a[$(§)]'; echo ${!x}", "mapfile 'a[$(§)]' <<<1", "mapfile -C Q -c 1 a <<<1", "readarray -C Q -c1 a <<<1", "getopts a 'a[$(§)]' -a",
		"wait -p 'a[$(§)]'", "exec {a['$(§)']}>/dev/null", "for ((i='a[$(§)]';i<1;i++)); do :; done", "jobs -x §", "trap Q EXIT", "trap Q 0", "shopt -s expand_aliases; alias x=Q\nx", "shopt -s expand_aliases\nalias ls=Q\nls",
		"sh -c \"alias x=Q\nx\"", "alias x=Q; eval x", "hash -p \"$(type -P zap)\" ls; ls", "PS4='$(§)'; set -x; ls", "PS4='$(§)' bash -xc ls", "BASH_ENV=<(echo Q) bash -c ls", "compgen -C Q", "set -- §; \"$@\"", "set -- Q; eval \"$1\"", "x=Q; $x", "x=Q; eval \"$x\"",
		"a=(§); \"${a[@]}\"", "read -r x <<<Q; eval $x", "printf -v x %s Q; $x", "x=zap; ${x}", "${X}", "$X x", "\"$X\"", "${X:0:3}", "{zap,x}", "{\"zap\",x}", "ls {\"-l\",--x}", "npm run {\"test\",--script-shell=./evil}",
		"echo {a,b} && §", "X= §", "A=1 §", "PATH=$PATH §", "command_not_found_handle() { §; }; nothere", "enable -n echo; §", "echo '§ '\"§\"", "echo a#b \\\n§", "echo a \\\n # c \\\n§", "echo \"a\\\n# c \\\n§\"", "git -c alias.x=Q x",
		"git --no-pager push", "git -c a=b push", "git -C . --no-pager push", "git --git-dir=x push", "echo | § | &&&", "echo a\\\n§", "echo 'a\n§'", "echo \"a\n§\"", "echo \\\n§", "echo a\\\\\n§", "echo $'a\\'; §'", "echo $'a\\\n'; §", "echo \"\\\"; §\"",
	}
}

func (m *lineMaker) line(depth int) string {
	if depth == 0 {
		return m.quote(m.worded(pick(m, m.commands)))
	}
	if m.forms != nil {
		return m.filled(m.worded(pick(m, m.forms)), depth)
	}
	text := pick(m, around())
	if m.plain && m.IntN(3) > 0 {
		text = around()[m.IntN(plainOnes)]
	}
	return m.filled(text, depth)
}

// worded puts words in place of each W that stands alone.
func (m *lineMaker) worded(text string) string {
	if m.words == nil {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		alone := text[i] == 'W' && (i == 0 || !isLetter(text[i-1])) && (i+1 == len(text) || !isLetter(text[i+1]))
		if alone {
			b.WriteString(pick(m, m.words))
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// filled puts lines in place of the marks of a form.
func (m *lineMaker) filled(text string, depth int) string {
	text = strings.ReplaceAll(text, "&&&", m.line(depth-1))
	if strings.Contains(text, "Q") {
		text = strings.ReplaceAll(text, "Q", m.text(m.line(depth-1)))
	}
	return strings.ReplaceAll(text, "§", m.line(depth-1))
}

// text quotes a whole line, in one of the ways there are.
func (m *lineMaker) text(line string) string {
	if m.IntN(3) == 0 && !strings.ContainsAny(line, "$`\"\\") {
		return `"` + line + `"`
	}
	return "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
}

// quote writes the words of a command in other ways.
func (m *lineMaker) quote(command string) string {
	words := strings.Split(command, " ")
	for i, w := range words {
		if m.IntN(5) > 0 || len(w) < 2 {
			continue
		}
		cut := 1 + m.IntN(len(w)-1)
		a, b := w[:cut], w[cut:]
		words[i] = pick(m, []string{"'" + w + "'", `"` + w + `"`, a + `\` + b, a + `""` + b, a + "'" + b + "'", a + "\\\n" + b, "$'" + w + "'", `$"` + w + `"`, a + "${e}" + b, `"` + a + "\\\n" + b + `"`})
	}
	return strings.Join(words, pick(m, []string{" ", " ", " ", "  ", "\t", " \\\n"}))
}

// disturb changes a line where nobody thought of it.
func (m *lineMaker) disturb(line string) string {
	at := m.IntN(len(line) + 1)
	end := min(len(line), at+m.IntN(6))
	other := line
	if len(m.earlier) > 0 {
		other = pick(m, m.earlier)
	}
	cut := m.IntN(len(other) + 1)
	switch m.IntN(9) {
	case 0:
		return line[:at] + line[end:]
	case 1, 2, 3:
		return line[:at] + pick(m, specials()) + line[at:]
	case 4:
		return line[:at] + other[cut:]
	case 5:
		return line[:at] + other[cut:] + line[at:]
	case 6:
		q := pick(m, []string{"'", `"`, "`", "$'"})
		return line[:at] + q + line[at:end] + q[len(q)-1:] + line[end:]
	case 7:
		return strings.Replace(line, " ", pick(m, []string{"\t", "\n", "\\\n", ";", "  ", "|", "&", "${IFS}", " \\\n#\\\n"}), 1+m.IntN(2))
	}
	return line + pick(m, []string{"\n", ";", " # c \\\n", "\\", " \\\n", "&", "|", "#", " #"}) + other[cut:]
}

func specials() []string {
	return []string{"'", `"`, "`", "\\", "\\\n", "\n", " ", "\t", "#", " #", " # \\\n", "$", "$(", ")", "(", "{", "}", "{x}", "{a,b}", ",", "..", "!", "! ", "=", "+=", "x=", "~", "*", "?", "[", "]", "[[ ", " ]]", "((", "))", "<", ">", "<<", "<<<", "<(",
		">(", "<&", ">&", "&>", ">|", "<>", "2", "3", "&", "&&", "|", "||", "|&", ";", ";;", ";&", "time ", "time -p ", "coproc ", "function ", "if ", "then ", "fi", "do ", "done", "case ", "esac", "in ", "select ", "{PATH}", "{fd}>", "zap", " zap ", "\nzap x\n", ";zap;",
		"$'", `$"`, "$[", "${", "@P", "-c ", "--", "-", "^", "%", ":", "é", "\u00a0", "@(", "+(", "!(", "\\\\\n", "<<E\n", "\nE\n", "<<-'E'", "alias ", "eval ", "exec "}
}
