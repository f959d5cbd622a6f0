package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/files/git"
	"adze/internal/files/search"
	"adze/internal/llm/models"
	"adze/internal/project/agents"
	"adze/internal/run/guard"
	"adze/internal/run/hostio"
	"adze/internal/run/modelpicker"
	"adze/internal/run/settings"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb/fulltext"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// ShellTool runs the user's own commands.
const ShellTool = "bash"

// Ports connects the interface with the conversation.
func (w *Conversation) Ports() api.Ports {
	a, o := w.Settings.Process, &w.Settings.Request
	editor := hostio.NewEditor(w.Settings.Root.Dir(), a.Getenv, a.In, a.Out, a.Err)
	memory := hostio.NewMemory(w.Settings.Places.State, w.Head.Cwd)
	p := api.Ports{
		Mode:            func() string { return string(w.Gate.Mode()) },
		SetMode:         w.told(w.SetMode),
		Review:          w.SetReview,
		Sandbox:         w.Cage.StatusLevel,
		Efforts:         hostio.Efforts(),
		SetEffort:       func(word string) string { defer w.Refresh(); w.Session.SetEffort(word); return w.Effort() },
		CancelCall:      w.cancelCall,
		Steer:           w.Session.Steer,
		Plan:            w.plan.Show,
		Rewind:          w.Session.Rewind,
		Compact:         w.Session.Compact,
		Jobs:            w.backgroundJobs,
		JobOutput:       w.jobOutput,
		EndJob:          w.endJob,
		Late:            w.Session.Late,
		Wake:            w.Staging.Wake,
		Branch:          func() string { return git.Head(w.Head.Cwd) },
		Folder:          hostio.FolderIn(w.Head.Cwd),
		ProjectPrograms: w.carried,
		Consent:         w.consent,
		Edit:            editor.Edit,
		Drop:            hostio.DropIn(w.Head.Cwd),
		Picture:         hostio.NewClipboard(w.Settings.Places.State, w.Settings.Root.Dir(), a.Getenv).Picture,
		Modes:           hostio.Modes(w.Gate.Mode()),
	}
	p.Staged = w.Staging.Decide
	p.Files = func(ctx context.Context, some func(api.Files)) (api.Files, error) {
		files, err := Files(ctx, w.Settings, w.Guard, some)
		files.Paths = append(files.Paths, w.Servers.Mentions()...)
		return files, err
	}
	if w.Keeper != nil {
		p.Undo = w.Undo
	}
	w.netPorts(&p, editor)
	if w.Servers != nil {
		p.Servers, p.Serve = w.Servers.Rows, w.Servers.Serve
	}
	if _, ok := w.Set.Load().Get(ShellTool); ok {
		p.Run = w.shell
		p.MergePlan, p.Merge = w.mergePlan, w.merge
	}
	if !o.Demo && !o.NoSession && o.Replay == "" && o.Record == "" { // a recording covers one session
		p.Switch = true
		p.Sessions = w.sessions
		words := fulltext.NewLater(filepath.Join(w.Settings.Places.State, "sessions.db"))
		w.closers = append(w.closers, func() { words.Close() })
		p.Search = func(ctx context.Context, text string) ([]api.SearchResult, string, error) {
			return hostio.Search(ctx, words, text)
		}
		p.Peek = func(ctx context.Context, id string) (api.SessionPeek, error) { return hostio.Peek(ctx, w.Stored, id) }
		p.Models = func(ctx context.Context) ([]api.ModelRow, error) { return modelRows(ctx, w) }
		p.CheckModel = func(name string) error { _, err := a.Models(w.Settings.Config).Named(name); return err }
		p.PromptHistory, p.Remember = memory.Messages, memory.Add
		p.Keep, p.CurrentValue = w.Settings.Keep, w.Settings.Kept
	}
	return p
}

// backgroundJobs returns the background commands and tasks.
func (w *Conversation) backgroundJobs() []api.Job {
	out := hostio.Jobs(w.deps.Shell.Jobs())
	for _, l := range w.agents.Later() {
		out = append(out, api.Job{ID: l.ID, Command: l.Name, Running: l.Running, Started: l.Started, Ended: l.Ended})
	}
	return out
}

// jobTail is the shown part of a job's output, in bytes.
const jobTail = 16 << 10

// jobOutput returns the end of a job's output.
func (w *Conversation) jobOutput(_ context.Context, id string) (string, error) {
	for _, l := range w.agents.Later() {
		if l.ID == id {
			return l.Report, nil
		}
	}
	_, p, err := w.deps.Shell.Jobs().Tail(id, jobTail)
	return p.Tail, err
}

func (w *Conversation) endJob(id string) error {
	if w.agents.End(id) {
		return nil
	}
	_, err := w.deps.Shell.Jobs().Kill(id)
	return err
}

// TellEnded returns a message about background tasks that ended with the session, or "".
func (w *Conversation) TellEnded() string {
	if len(w.ended) == 0 {
		return ""
	}
	return "ended with the session; the agent is told when it continues: " + strings.Join(w.ended, ", ")
}

// Effort returns the thinking effort: the session's, or the provider's configured one.
func (w *Conversation) Effort() string {
	return cmp.Or(w.Session.Effort(), w.Settings.Config.Providers[w.Head.Provider].Effort)
}

// KeepMode stores a mode with the session, for its next owner.
func (w *Conversation) KeepMode(ctx context.Context, mode string) error {
	if w.Buffered == nil {
		return nil // this session is not stored
	}
	raw, err := json.Marshal(session.Permits{Mode: mode})
	if err != nil {
		return err
	}
	return w.Buffered.Append(ctx, w.Session.ID(), session.Entry{Type: session.ModeEntry, Time: time.Now(), Data: raw})
}

// Files lists the workspace for completion without protected files; some receives partial lists
// early.
func Files(ctx context.Context, s *settings.Settings, g *guard.Guard, some func(api.Files)) (api.Files, error) {
	dir := s.Root.Dir()
	return hostio.Files(ctx, search.Tree{Root: dir, Withhold: g.Gate.FileFilter(dir)}, some, func(ctx context.Context) []string {
		env := proc.Environ(os.Environ(), proc.EnvPolicy{Secrets: models.KeyNames(s.Config)})
		return hostio.Changed(ctx, git.Git{Supervisor: proc.Supervisor{Ledger: g.Ledger}, Env: proc.WithoutPathsIn(env, dir)}, dir)
	})
}

// ownCommand is the user's running command, "" for none. It needs no question, but denials apply,
// and it grants nothing else.
type ownCommand struct{ text atomic.Value }

// is reports whether a question is about exactly this command.
func (c *ownCommand) is(q tool.Question) bool {
	text, _ := c.text.Load().(string)
	return text != "" && q.Agent == "" && q.Tool.Name == ShellTool && len(q.Needs) == 1 &&
		q.Needs[0].Permission == tool.Execute && q.Needs[0].Target == text
}

// runs reports whether cmd is the process of this command.
func (c *ownCommand) runs(cmd proc.Command) bool {
	text, _ := c.text.Load().(string)
	return text != "" && len(cmd.Argv) > 0 && cmd.Argv[len(cmd.Argv)-1] == text
}

// shell runs the user's own command through policy and pipeline.
func (w *Conversation) shell(ctx context.Context, command string) session.Result {
	r, _ := w.shellOutcome(ctx, command)
	return r
}

func (w *Conversation) shellOutcome(ctx context.Context, command string) (r session.Result, outcome tool.Outcome) {
	call, err := hostio.Call(ShellTool, map[string]string{"command": command})
	if err != nil {
		return session.Sort(err), outcome
	}
	w.own.text.Store(command)
	defer w.own.text.Store("")
	r = w.Session.Run(ctx, call, func(o tool.Outcome) string {
		outcome = o
		return fmt.Sprintf("I ran this command myself (%s):\n$ %s\n\n%s", o.Status, command, o.Output)
	})
	return r, outcome
}

// modelRows lists the models to choose from, with reasons for unusable ones: the current and the
// configured one first, then the detected ones. The user can also type other names.
func modelRows(ctx context.Context, w *Conversation) ([]api.ModelRow, error) {
	a := w.Settings.Process
	l, err := a.LookAround(ctx)
	cfg := w.Settings.Config
	return modelpicker.RowsFrom(a.Models(cfg), []string{w.Head.Provider + "/" + w.Head.Model, cfg.Model}, l), err
}

// taskTool starts an agent.
const taskTool = "task"

// Addressed parses a prompt that begins with an agent, such as "@reviewer look at the diff".
func (w *Conversation) Addressed(text string) (k agents.Kind, task string, ok bool) {
	name, task, ok := strings.Cut(strings.TrimSpace(text), " ")
	if at, is := strings.CutPrefix(name, "@"); ok && is && !strings.Contains(at, "/") {
		if _, has := w.Set.Load().Get(taskTool); has {
			k, err := w.kinds.ForTask(at)
			return k, strings.TrimSpace(task), err == nil
		}
	}
	return k, "", false
}

// Answer runs a prompt with the addressed agent, or in the conversation.
func (w *Conversation) Answer(ctx context.Context, in session.Input) session.Result {
	if k, task, ok := w.Addressed(in.Text); ok && in.Compose == nil && len(in.Attachments) == 0 {
		return w.Give(ctx, k, task)
	}
	r := w.Staging.RunPrompt(ctx, in)
	w.entitle(ctx, in.Text, r)
	return r
}

// Give passes the user's task to an agent. The report becomes part of the conversation.
func (w *Conversation) Give(ctx context.Context, k agents.Kind, task string) session.Result {
	title, _, _ := strings.Cut(task, "\n")
	call, err := hostio.Call(taskTool, map[string]string{"description": "@" + k.Label() + " " + title, "prompt": task, "agent": k.Label()})
	if err != nil {
		return session.Sort(err)
	}
	var came tool.Outcome
	r := w.Session.Run(ctx, call, func(o tool.Outcome) string {
		came = o
		return fmt.Sprintf("I gave this task to the agent %s myself (%s):\n%s\n\n%s", k.Label(), o.Status, task, o.Output)
	})
	switch _, report, told := strings.Cut(came.Output, "]\n\n"); {
	case r.Cause != session.CauseDone:
	case came.Status != tool.Completed:
		r.Cause, r.Message, r.Hint = session.CauseTool, came.Output, "ask without @"+k.Label()+", or raise what it was short of"
	case told:
		r.Text = report // without advice for the model
	}
	return r
}

// Addressees returns the agents that a prompt can address.
func (w *Conversation) Addressees() (out []api.Mode) {
	if _, has := w.Set.Load().Get(taskTool); !has {
		return nil
	}
	for _, k := range w.kinds {
		if k.Problem == "" && k.Task && k.ShadowedBy == "" {
			note := k.Description
			if k.Path != "" {
				note = strings.TrimSpace(note + " (" + k.Path + ")")
			}
			out = append(out, api.Mode{Name: k.Name, Means: note})
		}
	}
	return out
}
