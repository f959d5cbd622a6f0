package git

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"
)

// documentedPrograms are the settings in git's documentation that speak of programs, each judged by
// a person: of a new version of git, the new ones are added.
//
//go:embed testdata/programs.txt
var documentedPrograms string

// programKeys lists the keys of a verdict, with a name of their own where they have one.
func programKeys(t *testing.T, verdict string) (keys []string) {
	t.Helper()
	name := regexp.MustCompile(`<[^>]*>|\*`)
	for line := range strings.Lines(documentedPrograms) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		if len(f) != 4 || f[3] != "runs" && f[3] != "leads" && f[3] != "no" {
			t.Errorf("%q has no verdict; say whether git runs what it names", strings.TrimSpace(line))
			continue
		}
		if f[3] == verdict {
			keys = append(keys, name.ReplaceAllString(f[0], "evil"))
		}
	}
	return keys
}

func TestEachDocumentedProgramIsOverridden(t *testing.T) {
	for _, key := range programKeys(t, "runs") {
		if strings.HasPrefix(key, "sendemail.evil.") {
			key = "sendemail.evil.tocmd"
		}
		if _, runs := harmless(lowered(key)); !runs {
			t.Errorf("a repository's own %s is not overridden", key)
		}
	}
}

// lowered is a key as git lists it.
func lowered(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// Settings that lead git to programs of other places are answered elsewhere than in harmless.
func TestEachDocumentedWayToProgramsIsAnswered(t *testing.T) {
	answered := map[string]string{
		"include.path":        "settings reads what it names",
		"includeIf.evil.path": "settings reads what it names",
		"core.worktree":       "Elsewhere tells of it",
		"init.templateDir":    "git reads it before there is a repository",
		"protocol.allow":      "protocol.ext.allow is overridden, which counts before it",
		"protocol.evil.allow": "protocol.ext.allow is overridden",
		"url.evil.insteadOf":  "protocol.ext.allow is overridden",
		"hook.evil.event":     "", "hook.evil.enabled": "", "core.hooksPath": "", "instaweb.modulePath": "",
	}
	for _, key := range programKeys(t, "leads") {
		why, ok := answered[key]
		if _, runs := harmless(lowered(key)); !ok || (why == "") != runs {
			t.Errorf("%s: overridden %v, and otherwise %q", key, runs, why)
		}
	}
}

// plantAll sets all that git's documentation says it runs.
func (d *desk) plantAll(t *testing.T) {
	script := "echo '* filter=evil diff=evil merge=evil' > .gitattributes; git add .; git commit -qm attributes; echo changed >> f; "
	for _, key := range programKeys(t, "runs") {
		value := "$CANARY"
		switch {
		case strings.HasPrefix(key, "alias."), strings.HasPrefix(key, "submodule."):
			value = "!$CANARY"
		case strings.HasSuffix(key, ".*"), key == "sendemail.evil.evil":
			key = "sendemail.evil.tocmd"
		case key == "core.fsmonitor", strings.HasPrefix(key, "hook."):
			script += `git config --add hook.evil.event pre-commit; git config --add hook.evil.event post-index-change; git config --add hook.evil.event reference-transaction; `
		}
		script += `git config '` + key + `' "` + value + `"; `
	}
	d.sh(script)
	d.sang()
}

func TestNoDocumentedSettingRunsAProgram(t *testing.T) {
	d := newDesk(t)
	d.plantAll(t)
	d.askEverything(vector{})
	if songs := d.sang(); len(songs) > 0 {
		t.Errorf("ran %q", songs)
	}
}

func TestNoDocumentedSettingRunsUnderAGuard(t *testing.T) {
	d := newDesk(t)
	d.plantAll(t)
	for _, line := range []string{"status", "diff", "add f", "-c user.name=a -c user.email=a@b commit -qm x", "difftool --no-prompt HEAD~1", "mergetool", "archive --format=evil HEAD",
		"interpret-trailers --trailer evil f", "evil", "log -p", "-p log", "checkout -q HEAD~1", "gc --quiet", "ls-remote evil", "ls-remote ssh://localhost/x", "add --patch",
		"-c user.name=a -c user.email=a@b commit -qS --allow-empty -m x", "rebase -i HEAD~1", "fsck", "submodule update", "help --web add", "web--browse x", "hook run pre-commit"} {
		d.guarded("", strings.Fields(line)...)
		if songs := d.sang(); len(songs) > 0 {
			t.Errorf("git %s ran %q", line, songs)
		}
	}
}
