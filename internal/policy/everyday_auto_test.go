package policy

import (
	"context"
	"os"
	"strings"
	"testing"

	"adze/tool"
)

// everydayCommands are those of the table.
func everydayCommands(t *testing.T) (out []string) {
	t.Helper()
	data, err := os.ReadFile(everyday)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, command, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok && line[0] != '#' {
			out = append(out, strings.ReplaceAll(command, `\n`, "\n"))
		}
	}
	return out
}

// TestEverydayCommandsInModeAuto holds what a user is asked before commands of usual days run in
// the mode auto. Where the sandbox is full: at most 2 in a hundred, without any rule; hosts that
// commands then want to reach are asked for each once, and are not counted here. Where there is
// none auto is the mode edits, in which no safe reading can excuse a build: with the offers of the
// first day taken, and never an interpreter's among them because none is made, at most 5 on the
// second.
func TestEverydayCommandsInModeAuto(t *testing.T) {
	commands := everydayCommands(t)
	need := func(command string) tool.Need {
		return tool.Need{Permission: tool.Execute, Target: command, Sandboxed: true}
	}
	held, asked := boxed(t, Auto, true), 0
	held.options.Files = project()
	for _, command := range commands {
		if v := held.judge(Auto, need(command)); v.effect != Allow || v.run.Leaves != "" {
			t.Logf("asked with the sandbox: %s", command)
			asked++
		}
	}
	today := 0
	person := newPolicy(t, Auto, func(_ context.Context, _ tool.Question, p Prompt) (Answer, error) {
		today++
		if i := DefaultOffer(p.Offers); i >= 0 {
			return Answer{Choice: Session, Offer: i}, nil
		}
		return Answer{Choice: Once}, nil
	})
	person.options.Files = project()
	day := func() int {
		today = 0
		for _, command := range commands {
			if d := decide(t, person, tool.Question{Needs: []tool.Need{need(command)}}); !d.Allow {
				t.Errorf("%s: %+v", command, d)
			}
		}
		return today
	}
	first, second := day(), day()
	t.Logf("of %d commands %d are asked with the sandbox; without one %d on a first day, %d on a second", len(commands), asked, first, second)
	if len(commands) < 200 || asked*100 > len(commands)*2 || second*100 > len(commands)*5 {
		t.Error("a person is asked too often")
	}
	if asked == 0 || first < second {
		t.Error("nothing was judged")
	}
}
