package plan

import (
	"slices"

	"adze/internal/policy"
	"adze/session"
)

// Notes for the model about the mode. The texts are constant, so that a session sends each only
// once.
const (
	planning = "The permission mode is plan now. Nothing may be changed, neither by you nor by a subagent; commands that only look may run, and in the sandbox builds and tests: their changes are dropped. " +
		"Find out what is needed, ask what is unclear, then call plan with the whole plan. The work begins when the person has accepted it."
	helping = "The permission mode is plan: nothing may be changed; commands that only look may run, and in the sandbox builds and tests: their changes are dropped. Report what you find."
	over    = "The permission mode is not plan any more: the work may be done, as far as the person allows each step."
)

// Origins of notes about the mode and the plan.
const modeOrigin, planOrigin = "permission mode", "accepted plan"

// Notes returns the model's notes for a step: that changes are forbidden, or allowed again, and the
// accepted plan. The session does not repeat an unchanged note. Notes survive a compaction.
func (d *Manager) Notes(s session.Step) (out []session.Note) {
	mode := session.Note{Kind: session.ModeNote, Source: modeOrigin, Short: "mode is " + string(d.Mode()), KeepInCompaction: true}
	planned := slices.ContainsFunc(s.Notes, func(n session.Note) bool { return n.Kind == session.ModeNote && n.Source == modeOrigin })
	switch {
	case d.Mode() == policy.Plan && s.Agent != "":
		mode.Text = helping
	case d.Mode() == policy.Plan:
		mode.Text = planning
	case planned:
		mode.Text = over
	}
	if mode.Text != "" {
		out = append(out, mode)
	}
	p := d.Session().Plan()
	if s.Agent != "" || p == nil || p.State != session.PlanAccepted {
		return out
	}
	text := p.Text
	if now, err := d.read(); err == nil && hashOf(now) == p.SHA256 {
		text = now // the log masks secrets
	}
	if p.Edits != "" {
		text += "\n\nWhat the person changed of your words:\n" + p.Edits
	}
	return append(out, session.Note{Kind: session.PlanNote, Source: planOrigin, SHA256: p.SHA256, KeepInCompaction: true, Text: text})
}
