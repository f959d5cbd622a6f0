package policy

import (
	"os/exec"
	"strings"
	"testing"

	"adze/internal/policy/programs"
	"adze/tool"
)

// TestOptionsThatDoMoreAreAsked: a rule for a program with any words was written for what the
// program is known for. An option that writes a file or runs a program is asked for, unless the
// rule names it.
func TestOptionsThatDoMoreAreAsked(t *testing.T) {
	for _, c := range []struct {
		rule, command string
		asked         bool
	}{
		{"sort **", "sort -u a b", false}, {"sort **", "sort -k1,1 -t: -n a", false}, {"sort **", "sort -o a b", true}, {"sort **", "sort -uob a", true},
		{"sort **", "sort --output=b a", true}, {"sort **", "sort --outp b a", true}, {"sort **", "sort a -o b", true}, {"sort **", "sort --compress-program=./x a", true},
		{"sort **", "sort -- -o", false}, {"sort **", "nice sort -o b a", true}, {"sort -o **", "sort -o a b", false}, {"sort -o b a", "sort -o b a", false}, {"sort **", "/usr/bin/sort -o a b", true},
		{"find **", "find . -name x -exec ./run {} +", true}, {"find **", "find . -delete", true}, {"find **", "find . -fprint out", true}, {"find . -delete **", "find . -delete -print", false},
		{"rg **", "rg --pre ./x y", true}, {"rg **", "rg --pre-glob y x", false}, {"curl **", "curl -sSfL http://a.test/", false}, {"curl **", "curl -so x http://a.test/", true},
		{"go test **", "go test -exec ./x ./...", true}, {"go test **", "go test -run X ./...", false}, {"go build **", "go build -toolexec=./x ./...", true},
		{"git **", "git -c core.pager=x log", true}, {"git **", "git commit -c HEAD", false}, {"git log **", "git log --output=x", true}, {"git log **", "git log --oneline -5", false},
		{"git push **", "git push -u origin main", false}, {"git fetch **", "git fetch --upload-pack=./x", true}, {"uniq **", "uniq a b", true}, {"uniq **", "uniq -c a", false},
		{"sed **", "sed -i s/a/b/ x", true}, {"sed **", "sed -n 's/a/b/w x' a", true}, {"sed **", "sed s/a/b/ a", false}, {"awk **", `awk '{print > "x"}' a`, true}, {"awk **", "awk '{print $1}' a", false},
		{"tar **", "tar --checkpoint-action=exec=x -cf y z", true}, {"tar **", "tar -czf y z", false}, {"date **", "date -Iseconds", false}, {"date **", "date -s 1", true},
		{"gofmt **", "gofmt -w a.go", true}, {"prettier **", "prettier --check a", false}, {"prettier **", "prettier --write a", true},
	} {
		p := newPolicy(t, AskFirst, nil, "allow execute("+c.rule+")", "allow read", "allow write(nothing)")
		d, err := p.Decide(t.Context(), tool.Question{Needs: []tool.Need{{Permission: tool.Execute, Target: c.command}}})
		if err != nil || d.Allow == c.asked {
			t.Errorf("%s under %s: allowed %v (%s), %v", c.command, c.rule, d.Allow, d.Reason, err)
		}
	}
}

// TestRulesTellWhatTheyDoNotCover: who adds a rule is told which options are asked for even so.
func TestRulesTellWhatTheyDoNotCover(t *testing.T) {
	for text, want := range map[string]string{
		"execute(sort **)": "-o, --output writes a file", "execute(find **)": "-exec", "execute(ls **)": "", "execute(sort -o **)": "--compress-program", "execute(sort a)": "", "execute(go test **)": "-toolexec",
	} {
		r, err := ParseRule(Allow, User, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Effects(); want == "" && got != "" || !strings.Contains(got, want) || text == "execute(sort -o **)" && strings.Contains(got, "(-o") {
			t.Errorf("%s: %q", text, got)
		}
	}
	r, err := ParseRule(Deny, User, "execute(sort **)")
	if err != nil || r.Effects() != "" {
		t.Errorf("a deny: %q, %v", r.Effects(), err)
	}
}

// TestTheTableIsThatOfThePrograms looks for each long option of the table in what the installed
// program says of itself.
func TestTheTableIsThatOfThePrograms(t *testing.T) {
	seen := 0
	for name, topic := range map[string]string{
		"sort": "--help", "shuf": "--help", "find": "--help", "rg": "--help", "tar": "--help", "curl": "--help all", "date": "--help", "sed": "--help", "wget": "--help", "rsync": "--help", "sdiff": "--help", "iconv": "--help",
	} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, _ := exec.Command(path, strings.Fields(topic)...).CombinedOutput()
		for _, e := range programs.ExtraAccess([]string{name}) {
			if len(e.Option) > 2 && (strings.Contains(string(out), "--help") || len(out) > 400) {
				seen++
				if stem := e.Option; !strings.Contains(string(out), stem) && stem != "-fls" && stem != "-ok" && stem != "--hostname-bin" { // ripgrep 13 had none
					t.Errorf("%s does not know %s", name, stem)
				}
			}
		}
	}
	t.Logf("%d options were looked up", seen)
}
