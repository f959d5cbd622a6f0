package agents

import (
	"slices"
	"strings"

	"adze/internal/project/discovery"
)

// Limits of the agent index in a system prompt, in bytes.
const (
	MaxIndex   = 2000
	SmallIndex = 400 // for a model that reads slowly
)

// Index lists the agents for tasks in a system prompt, without the built-in ones, which the tool
// lists. It returns "" if there are none.
func (ks Kinds) Index(room int) string {
	var own Kinds
	for _, k := range ks {
		if k.Path != "" && k.Problem == "" && k.Task && k.ShadowedBy == "" {
			own = append(own, k)
		}
	}
	if len(own) == 0 {
		return ""
	}
	slices.SortFunc(own, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	lines, order := make([]discovery.Line, len(own)), make([]int, len(own))
	for n, k := range own {
		lines[n], order[n] = discovery.Line{Name: k.Name, Description: k.Description}, n
	}
	return discovery.Index("Give one of these a task with task{agent} where it fits:", lines, order, room, "more agents")
}

// State describes, in a word and a reason, an agent's part in a system prompt with this index, and
// its settings that are not followed. indexed reports whether there is an index. leads is the label
// of the main agent, or "".
func (k Kind) State(index string, indexed bool, leads string) (state, why string) {
	switch {
	case k.Problem != "":
		return "broken", k.Problem
	case k.Label() == leads:
		state, why = "used", "it leads this conversation"
	case k.ShadowedBy != "":
		state, why = "shadowed", "by "+k.ShadowedBy+"; "+k.Label()+" is it all the same"
	case !k.Task:
		state, why = "unused", "it only leads a conversation: --agent "+k.Name
	case !indexed:
		state, why = "unused", "the model is not told of agents; @"+k.Name+" gives it a task"
	default:
		state, why = discovery.Indexed(index, k.Name)
		why += "; task and @" + k.Name + " take its name"
	}
	return state, strings.Join(append([]string{why}, k.Notes...), "; ")
}
