package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// Replayed converts a resumed conversation to the events that drew it, followed by the context
// count.
func Replayed(w *Conversation) []session.Event {
	var events []session.Event
	failed := w.Session.Failed()
	var ends []session.Result // results that follow the current turn's last calls
	end := func(of string) {
		for _, r := range ends {
			events = append(events, session.TurnEnd{Result: r})
		}
		ends = failed[of]
	}
	end("")
	for _, m := range slices.Concat(w.Session.Earlier(), w.Session.History()) {
		if m.Role != session.ToolRole {
			end(m.ID)
		}
		if o, ok := w.Session.OwnCommandOutcome(m.OwnCall); ok {
			events = append(events, session.ToolEnd{Outcome: o}) // drawn as when it ran; the message is for the model
			continue
		}
		if m.Role != session.ToolRole {
			events = append(events, session.MessageDone{Message: m})
			continue
		}
		for _, p := range m.Parts {
			if p.Outcome != nil {
				events = append(events, session.ToolEnd{Outcome: *p.Outcome})
			}
		}
	}
	end("")
	if c, e := w.Session.Claims(), w.Session.Evidence(); len(c)+len(e) > 0 {
		events = append(events, session.Claimed{Claims: c, Evidence: e})
	}
	return append(events, session.Counted{Ledger: w.Session.Ledger()})
}

// FolderOf returns a stored session's folder.
func (w *Conversation) FolderOf(id string) (string, bool) {
	w.listed.Lock()
	defer w.listed.Unlock()
	for _, h := range w.heads {
		if h.ID == id {
			return h.Cwd, h.Cwd != ""
		}
	}
	return "", false
}

// Compose returns the model's input for a user's message: its slash command, server resources,
// files and attachments. An unknown command is sent as text.
func (w *Conversation) Compose(p api.Prompt) (session.Input, error) {
	in, err := w.Menu.Prompt(p.Text, p.Texts, false)
	if err != nil {
		return in, err
	}
	return w.Attach(w.Servers.AddResources(in), p.Attach, p.Attachments)
}

// Attach adds files, and a client's attachments, limited to the stored size.
func (w *Conversation) Attach(in session.Input, paths []string, sent []tool.Attachment) (session.Input, error) {
	files, err := hostio.Attachments(paths)
	if err == nil {
		err = w.MayAttach(paths)
	}
	if err != nil {
		return in, err
	}
	in.Attachments = append(in.Attachments, files...)
	for _, a := range sent {
		kept, err := hostio.Bounded(a)
		if err != nil {
			return in, usage.Mistake("attach a smaller one", "%s: %v", a.Name, err)
		}
		in.Attachments = append(in.Attachments, kept)
	}
	return in, nil
}

// Begins sets the mode that the user chose for this folder, unless the command line or the
// configuration names one.
func (w *Conversation) Begins(ctx context.Context, o *flags.Request) {
	if !w.Undecided(o) {
		return
	}
	mode := w.Settings.Project().Mode()
	if mode == "" || mode == string(w.Gate.Mode()) {
		return
	}
	if err := w.SetMode(mode); err != nil {
		w.Notices = append(w.Notices, fmt.Sprintf("the mode %s that you chose for this folder is not in force: %v", mode, err))
		return
	}
	w.ChosenMode = string(w.Gate.Mode())
	w.Head.PermissionMode = w.ChosenMode
	walls := w.Cage.Report(ctx)
	w.Head.Sandbox.Level, w.Head.Sandbox.Explanation = string(walls.Level), walls.Explanation
}

// Undecided reports whether the mode of a new interface session comes only from the default.
func (w *Conversation) Undecided(o *flags.Request) bool {
	return !o.Demo && o.Agent == "" && o.AcceptPlan == "" && o.Replay == "" && o.Record == "" && w.Settings.Config.Origin("permission_mode") == "default"
}

// HidePiped masks secrets in the piped part of a prompt, but not in the user's own words.
func (w *Conversation) HidePiped(prompt, words string) string {
	piped := strings.TrimPrefix(prompt, words)
	hidden := w.Settings.Masked(piped)
	if hidden == piped {
		return prompt
	}
	w.Notices = append(w.Notices, "the model gets what was piped in with its secrets masked; \"show_secrets\": true in your configuration shows them")
	return strings.TrimSuffix(prompt, piped) + hidden
}
