package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/tool"
)

// fromHome also knows the home folder by its sign.
type fromHome struct {
	onDisk
	home string
}

func (f fromHome) Judge(name string) (Place, error) {
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		name = f.home + rest
	}
	return f.onDisk.Judge(name)
}

// ownYard has adze's own files in the home folder, and a workspace beside them with a link there.
func ownYard(t *testing.T, m Mode, rules ...string) *Policy {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"work", "home/.config/adze", "home/.state/adze/output"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root+"/home/.config", root+"/work/link"); err != nil {
		t.Fatal(err)
	}
	p := newPolicy(t, m, nil, append(rules, "allow read(abs:"+root+"/home/.state/adze/output/**)")...)
	p.options.Paths, p.options.Home, p.options.Files = fromHome{onDisk{root + "/work"}, root + "/home"}, root+"/home", diskFiles{}
	p.options.OwnPaths = []string{root + "/home/.config/adze", root + "/home/.state/adze"}
	return p
}

// TestNoCommandWritesAdzesOwnFilesThatItNames: in each mode, and whatever rules allow, where the
// table knows that the program writes a file that it names there.
func TestNoCommandWritesAdzesOwnFilesThatItNames(t *testing.T) {
	p := ownYard(t, Yolo)
	home := p.options.Home
	refused := `cd % && rm x|cd ~/.config && rm -rf adze|cd ~ && rm -rf .config|rm -rf ~/.config|rm -rf ~|mv ~/.config ~/x|cd % && sed -i s/a/b/ x|d=%; echo x > $d/x|` +
		`d=%; cp a "$d/x"|for d in %; do cp a $d/x; done|curl -o %/x http://x|curl -o%/x http://x|wget --output-document=%/x http://x|tar xf a.tar -C %|unzip a.zip -d %|git clone x %/tools|git -C % init|` +
		`find % -delete|find ~ -delete|find % -type f -exec rm {} +|bash -c 'echo x > %/x'|sh -c 'cd %; echo x > x'|eval 'echo x > %/x'|` +
		`sort -o %/x a|pushd %; rm x|env -C % rm x|sed -i s/a/b/ link/adze/x|cp -r adze ~/.config|chmod -R a+w ~/.config|dd of=%/x|if make -C %; then`
	for line := range strings.SplitSeq(refused, "|") {
		for _, at := range []string{"~/.config/adze", home + "/.config/adze"} {
			line := strings.ReplaceAll(line, "%", at)
			if strings.Contains(line, "'") {
				line = strings.ReplaceAll(line, "~", home)
			}
			if v := p.judge(Yolo, tool.Need{Permission: tool.Execute, Target: line}); v.effect != Deny {
				t.Errorf("%q: %s", line, v.effect)
			}
		}
	}
	for line := range strings.SplitSeq(`cat ~/.config/adze/x|ls -la ~/.config/adze|cp a ~/|mv a ~|ls ~ && go build|rm -rf build|git commit -m "see ~/.config/adze/x"|npm test|cd ~ && ls|`+
		`cat ~/.config/adze/x > new; echo y > new2|sh -c 'cat ~/.config/adze/x'|python3 -c "print(1/2)"|python3 x.py ~/.state/adze/output/1.txt|find ~ -name x|cd / && make|chmod -R u+w .|rsync -a --delete a b|rm -rf ~/.cache/x|cat > notes.md <<'E'
~/.config/adze/x
E`, "|") {
		if v := p.judge(Yolo, tool.Need{Permission: tool.Execute, Target: line}); v.effect != Allow {
			t.Errorf("%q: %s, %s", line, v.effect, v.reason)
		}
	}
	ask := ownYard(t, AskFirst, "allow execute(curl **)")
	for line, want := range map[string]Effect{"curl -o ~/.config/adze/x http://x": Deny, "curl http://x": Allow, "curl -o x http://x": Ask, "curl -o ~/x http://x": Ask} {
		if v := ask.judge(AskFirst, tool.Need{Permission: tool.Execute, Target: line}); v.effect != want {
			t.Errorf("%q: %s, %s", line, v.effect, v.reason)
		}
	}
}

// TestARuleForAdzesOwnFilesKeepsNoHistoryBack: every run has one, for the keys. What a repository
// shows is asked for where a rule is about files that it may hold.
func TestARuleForAdzesOwnFilesKeepsNoHistoryBack(t *testing.T) {
	for rule, want := range map[string]Effect{"abs:HOME/.state/adze/keys.json": Allow, "abs:HOME/.state/adze/serve/**": Allow, "abs:HOME/**": Ask, "keep.txt": Ask, "abs:/etc/x": Ask} {
		p := ownYard(t, AskFirst)
		r, err := ParseRule(Deny, User, "read("+strings.ReplaceAll(rule, "HOME", p.options.Home)+")")
		if err != nil {
			t.Fatal(err)
		}
		p.options.Rules = append(p.options.Rules, r)
		for _, line := range []string{"git diff", "git log -p", "git show HEAD"} {
			if v := p.judge(AskFirst, tool.Need{Permission: tool.Execute, Target: line}); v.effect != want {
				t.Errorf("deny read(%s): %q: %s", rule, line, v.effect)
			}
		}
	}
}

// TestATextThatDoesNotParseWritesNoneOfAdzesOwnFiles: what of it bash would still run is not known,
// also where a comment ends in a backslash, which bash and the parser read differently.
func TestATextThatDoesNotParseWritesNoneOfAdzesOwnFiles(t *testing.T) {
	for _, line := range []string{
		"basename<<] > ~/.config/adze/x", "ls a # c \\\ntime ! echo a > ~/.config/adze/x", "( tee link/adze/x", "echo 'a; tee \"$HOME/.config/adze/x\"",
		"echo a >& ~/.config/adze/x", "echo a >| ~/.config/adze/x", "echo a &>> link/adze/x", "echo a <> ~/.config/adze/x",
	} {
		for _, mode := range []Mode{AskFirst, Edits, Auto, Yolo} {
			p := ownYard(t, mode)
			p.options.Contained = func(bool) (string, bool) { return "full", true }
			n := tool.Need{Permission: tool.Execute, Target: strings.ReplaceAll(line, "$HOME", p.options.Home), Sandboxed: true}
			if v := p.judge(mode, n); v.effect != Deny {
				t.Errorf("%s: %q: %s, %s", mode, line, v.effect, v.reason)
			}
		}
	}
}
