package trust

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// commandFolders are where projects keep prompts with a name, and their ending.
func commandFolders() [][2]string {
	return [][2]string{
		{".adze/commands", ".md"}, {".agents/commands", ".md"}, {".claude/commands", ".md"},
		{".opencode/command", ".md"}, {".opencode/commands", ".md"}, {".gemini/commands", ".toml"},
	}
}

// shellPart finds what a shell would run before the prompt is sent: !`text`, !{text} and blocks that begin with ```!.
var shellPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)!`([^`]+)`|!\\{([^}]+)\\}|(?:^|\n)```!\\s*\n(.*?)\n```")
})

// commands finds prompts with shell parts; one without runs nothing and needs no consent.
func commands(f folder) (out []Item) {
	for _, place := range commandFolders() {
		for _, name := range f.names(place[0], place[1], true) {
			rel := strings.TrimSuffix(strings.TrimPrefix(name, place[0]+"/"), place[1])
			i := Item{ID: rel, From: name, When: "the person gives /" + path.Base(rel)}
			raw, err := f.read(name)
			if err != nil {
				i.Problem = err.Error()
				out = append(out, i)
				continue
			}
			i.Raw = raw
			for _, m := range shellPart().FindAllStringSubmatch(string(raw), -1) {
				i.Shell = append(i.Shell, strings.TrimSpace(m[1]+m[2]+m[3]))
			}
			if len(i.Shell) > 0 {
				out = append(out, i)
			}
		}
	}
	return out
}
