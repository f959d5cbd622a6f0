package skills

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"adze/internal/project/discovery"
	"adze/prompts"
	"adze/session"
)

// What is said of a skill is what the prompt holds of it, however much room the index has.
func TestTheStateOfASkillIsWhatIsSent(t *testing.T) {
	files := map[string]string{
		"home/.claude/skills/same/SKILL.md": skillFile("same", "d"), "repo/.claude/skills/same/SKILL.md": skillFile("same", "d"),
		"repo/.claude/skills/mine/SKILL.md": "---\nname: mine\ndescription: d\ndisable-model-invocation: true\n---\nx\n", "repo/.claude/skills/none/SKILL.md": "",
	}
	for n := range 150 {
		name := fmt.Sprintf("skill-%03d", n)
		files["repo/.agents/skills/"+name+"/SKILL.md"] = skillFile(name, fmt.Sprintf("Work of the kind %d, with much to say", n))
	}
	_, dir := made(t, files)
	finder := discovery.For("", dir+"/home", dir+"/repo")
	defer finder.Close()
	items := finder.Find(t.Context(), discovery.Skill)
	shelf := New(items, dir+"/home")
	item, _ := discovery.Named(items, "skill-007")
	read, err := Read(t.Context(), item)
	if err != nil {
		t.Fatal(err)
	}
	history := []session.Message{{Role: session.User, Notes: []session.Note{Note(read, "x")}}}
	for _, slow := range []bool{false, true} {
		index := shelf.Index(t.Context(), "", slow)
		system, err := prompts.Render("coder", nil, index, prompts.Environment{Workspace: "/w"})
		if err != nil {
			t.Fatal(err)
		}
		system = prompts.Insert(system, prompts.AgentsPart, "- skill-149: an agent of that name")
		states := map[string]int{}
		for _, i := range items {
			state, why := State(t.Context(), i, system, history)
			if states[state]++; why == "" {
				t.Errorf("%s is %s, and nobody knows why", i.Name, state)
			}
			if told := strings.Contains(index, i.Name); i.ShadowedBy == "" && told != slices.Contains([]string{"described", "named", "used"}, state) && i.Name != "skill-007" {
				t.Errorf("%s is %s", i.Name, state)
			}
		}
		if states["used"] != 1 || states["broken"] != 1 || states["shadowed"] != 1 || states["unused"] != 1 || slow != (states["narrowed"] > 0) || states["named"]+states["described"] == 0 {
			t.Errorf("slow %v: %v", slow, states)
		}
	}
	if state, _ := State(t.Context(), item, "no index", nil); state != "unused" {
		t.Errorf("without an index it is %s", state)
	}
}
