package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/files/git"
	"adze/internal/files/search"
	"adze/internal/llm/models"
	"adze/internal/policy"
	"adze/internal/project/agents"
	"adze/internal/project/commands"
	"adze/internal/project/skills"
	"adze/internal/run/hostio"
	"adze/internal/run/modelpicker"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb/fulltext"
	"adze/session"
	"adze/tool"
	"adze/tui/api"
)

// shellTool runs the commands of the user's own.
const shellTool = "bash"

// seat is what the interface asks for beside turns.
type seat struct {
	settings settings
	menu     *commands.Menu // what can be named after a slash
	shelf    *skills.Shelf
	gate     *policy.Policy
	stored   session.Store
	jobs     *proc.Jobs        // what goes on in the background
	spare    *proc.Spare       // shims that wait for a command
	kinds    agents.Kinds      // the agents that there are
	leader   agents.Kind       // the one that leads the conversation; without a name adze's own
	ended    []string          // the subagents that ended with the session
	folders  *search.Folders   // what is in them, for searches and completion
	listed   sync.Mutex        // guards heads
	heads    []api.SessionHead // as last listed
}

// ports connects the interface with what was wired.
func (a *app) ports(o *options, w *wired, own *ownCommand) api.Ports {
	memory := hostio.NewMemory(w.settings.at.State, w.head.Cwd)
	w.cage.Outside = own.runs
	p := api.Ports{
		SetMode:    w.setMode,
		Sandbox:    w.cage.Shown,
		Efforts:    hostio.Efforts(),
		SetEffort:  func(word string) string { w.session.SetEffort(word); return w.effort() },
		CancelCall: w.cancelCall,
		Steer:      w.session.Steer,
		Plan:       w.plan.Show,
		Rewind:     w.session.Rewind,
		Compact:    w.session.Compact,
		Jobs:       w.backgroundJobs,
		JobOutput:  w.jobOutput,
		EndJob:     w.endJob,
		Late:       w.session.Late,
		Wake:       func(ctx context.Context) session.Result { return w.session.Prompt(ctx, session.Input{}) },
		Branch:     func() string { return git.Head(w.head.Cwd) },
		Files:      w.files,
		Folder:     hostio.FolderIn(w.head.Cwd),
		Carried:    w.carried,
		Consent:    w.consent,
		Edit:       hostio.NewEditor(w.settings.root.Dir(), a.Getenv, a.In, a.Out, a.Err).Edit,
		Drop:       hostio.DropIn(w.head.Cwd),
		Picture:    hostio.NewClipboard(w.settings.at.State, w.settings.root.Dir(), a.Getenv).Picture,
		Modes:      hostio.Modes(),
	}
	p.Notebooks, p.WriteDown = w.notebooks, w.writeDown
	if w.keeper != nil {
		p.Undo = w.undo
	}
	if w.servers != nil {
		p.Servers, p.Serve = w.servers.serverRows, w.servers.serve(w)
	}
	if _, ok := w.set.Get(shellTool); ok {
		p.Run = func(ctx context.Context, command string) session.Result { return w.shell(ctx, command, own) }
	}
	if !o.demo && !o.noSession && o.replay == "" && o.record == "" { // a recording is of one sitting
		p.Switch = true
		p.Sessions = w.sessions
		words := fulltext.NewLater(filepath.Join(w.settings.at.State, "sessions.db"))
		w.closers = append(w.closers, func() { words.Close() })
		p.Search = func(ctx context.Context, text string) ([]api.Found, string, error) {
			return hostio.Found(ctx, words, text)
		}
		p.Peek = func(ctx context.Context, id string) (api.SessionPeek, error) { return hostio.Peek(ctx, w.stored, id) }
		p.Models = func(ctx context.Context) ([]api.ModelRow, error) { return a.modelRows(ctx, w) }
		p.CheckModel = func(name string) error { _, err := a.models(w.settings.config).Named(name); return err }
		p.Past, p.Remember = memory.Past, memory.Add
		p.Keep, p.Kept = w.settings.defaults().Keep, w.settings.defaults().Kept
	}
	return p
}

// backgroundJobs are the commands and the tasks that go on in the background.
func (w *wired) backgroundJobs() []api.Job {
	out := hostio.Jobs(w.jobs)
	for _, l := range w.agents.Later() {
		out = append(out, api.Job{ID: l.ID, Command: l.Name, Running: l.Running, Started: l.Started, Ended: l.Ended})
	}
	return out
}

// jobOutput is the end of what one of them wrote or said.
func (w *wired) jobOutput(_ context.Context, id string) (string, error) {
	for _, l := range w.agents.Later() {
		if l.ID == id {
			return l.Says, nil
		}
	}
	return hostio.JobOutput(w.jobs, id)
}

func (w *wired) endJob(id string) error {
	if w.agents.End(id) {
		return nil
	}
	return hostio.EndJob(w.jobs, id)
}

// tellEnded says which tasks in the background ended with a session; if empty, none did.
func (w *wired) tellEnded() string {
	if len(w.ended) == 0 {
		return ""
	}
	return "ended with the session, as it is told when it goes on: " + strings.Join(w.ended, ", ")
}

// effort is how hard the model is asked to think: as this session says, else the configuration of
// its provider.
func (w *wired) effort() string {
	return cmp.Or(w.session.Effort(), w.settings.config.Providers[w.head.Provider].Effort)
}

// setMode puts a mode in force. The sandbox that it may ask for is tested beside, so that its level
// is known when the first command comes.
func (w *wired) setMode(name string) error {
	err := w.gate.SetMode(policy.Mode(name))
	if err == nil {
		go w.cage.Now(context.Background())
	}
	return err
}

// keepMode stores a mode with the session, for who goes on with it.
func (w *wired) keepMode(ctx context.Context, mode string) error {
	if w.patient == nil {
		return nil // nothing of it is stored
	}
	raw, err := json.Marshal(session.Permits{Mode: mode})
	if err != nil {
		return err
	}
	return w.patient.Append(ctx, w.session.ID(), session.Entry{Type: session.ModeEntry, Time: time.Now(), Data: raw})
}

// files lists the workspace for completion, but for what may not be read.
func (w *wired) files(ctx context.Context) (api.Files, error) {
	files, err := hostio.Files(ctx, search.Tree{Root: w.head.Cwd, Withhold: w.gate.Sieve(w.head.Cwd), Folders: w.folders}, func(ctx context.Context) []string {
		env := proc.Environ(os.Environ(), proc.EnvPolicy{Secrets: models.KeyNames(w.settings.config)})
		return hostio.Changed(ctx, git.Git{Supervisor: proc.Supervisor{Ledger: w.ledger}, Env: proc.Outside(env, w.head.Cwd)}, w.head.Cwd)
	})
	files.Paths = append(files.Paths, w.servers.mentions()...)
	return files, err
}

// ownCommand is the command that the user runs right now. They wrote it: it is not asked again,
// but every denial holds, and nothing else is allowed by it.
type ownCommand struct {
	mu   sync.Mutex
	text string
}

func (c *ownCommand) set(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = text
}

// is reports whether a question is about exactly this command.
func (c *ownCommand) is(q tool.Question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text != "" && q.Agent == "" && q.Tool.Name == shellTool && len(q.Needs) == 1 &&
		q.Needs[0].Permission == tool.Execute && q.Needs[0].Target == c.text
}

// runs reports the process of that command.
func (c *ownCommand) runs(cmd proc.Command) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text != "" && len(cmd.Argv) > 0 && cmd.Argv[len(cmd.Argv)-1] == c.text
}

// shell runs a command of the user's own through the gate and the pipeline.
func (w *wired) shell(ctx context.Context, command string, own *ownCommand) session.Result {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return session.Sort(err)
	}
	own.set(command)
	defer own.set("")
	return w.session.Run(ctx, tool.RawCall{Name: shellTool, Arguments: string(args), Origin: tool.Native}, func(o tool.Outcome) string {
		return fmt.Sprintf("I ran this command myself (%s):\n$ %s\n\n%s", o.Status, command, o.Output)
	})
}

// notebooks are the files that a line of the user's own goes to.
func (w *wired) notebooks() (out []api.Notebook) {
	for _, t := range w.room.Targets() {
		out = append(out, api.Notebook{Name: t.Shown, Path: t.Path, Note: t.Says()})
	}
	return out
}

// writeDown adds a line to one of them: to a file of the project as any write, with the questions
// and records of one.
func (w *wired) writeDown(ctx context.Context, to api.Notebook, line string) session.Result {
	call, err := w.room.Add(ctx, to.Path, line)
	if err != nil {
		return session.Sort(err)
	}
	if call.Name == "" { // it is the user's own, and stands there
		w.session.Note(session.Note{Kind: session.InstructionsNote, From: to.Name, Text: "The person added: " + line})
		return session.Result{Cause: session.CauseDone, Changed: []string{to.Name}}
	}
	return w.session.Run(ctx, call, func(o tool.Outcome) string {
		return fmt.Sprintf("I added a line to %s (%s): %s\n%s", to.Name, o.Status, line, o.Output)
	})
}

// modelRows lists what can be chosen, and what the rest lacks: the model of this session and the
// configured one first, then all that the listing found. Any other is named by the user.
func (a *app) modelRows(ctx context.Context, w *wired) ([]api.ModelRow, error) {
	l, err := a.lookAround(ctx)
	cfg := w.settings.config
	return modelpicker.RowsFrom(a.models(cfg), []string{w.head.Provider + "/" + w.head.Model, cfg.Model}, l), err
}

// taskTool gives a piece of work to an agent.
const taskTool = "task"

// addressed finds the agent that a prompt begins with, such as "@reviewer look at the diff", and
// what it is to do.
func (w *wired) addressed(text string) (k agents.Kind, task string, ok bool) {
	name, task, ok := strings.Cut(strings.TrimSpace(text), " ")
	if at, is := strings.CutPrefix(name, "@"); ok && is && !strings.Contains(at, "/") {
		if _, has := w.set.Get(taskTool); has {
			k, err := w.kinds.ForTask(at)
			return k, strings.TrimSpace(task), err == nil
		}
	}
	return k, "", false
}

// answer is what comes of a prompt: of the agent that it is addressed to, else of the conversation.
func (w *wired) answer(ctx context.Context, in session.Input) session.Result {
	if k, task, ok := w.addressed(in.Text); ok && in.Compose == nil && len(in.Attachments) == 0 {
		return w.give(ctx, k, task)
	}
	return w.session.Prompt(ctx, in)
}

// give gives a task of the user's own to an agent. Its report is in the conversation for what is
// asked next.
func (w *wired) give(ctx context.Context, k agents.Kind, task string) session.Result {
	title, _, _ := strings.Cut(task, "\n")
	args, err := json.Marshal(map[string]string{"description": "@" + k.Label() + " " + title, "prompt": task, "agent": k.Label()})
	if err != nil {
		return session.Sort(err)
	}
	var came tool.Outcome
	r := w.session.Run(ctx, tool.RawCall{Name: taskTool, Arguments: string(args), Origin: tool.Native}, func(o tool.Outcome) string {
		came = o
		return fmt.Sprintf("I gave this task to the agent %s myself (%s):\n%s\n\n%s", k.Label(), o.Status, task, o.Output)
	})
	switch _, report, told := strings.Cut(came.Output, "]\n\n"); {
	case r.Cause != session.CauseDone:
	case came.Status != tool.Completed:
		r.Cause, r.Message, r.Hint = session.CauseTool, came.Output, "ask without @"+k.Label()+", or raise what it was short of"
	case told:
		r.Text = report // without what tells a model how to take it
	}
	return r
}

// addressees are the agents that a prompt can be addressed to.
func (w *wired) addressees() (out []api.Mode) {
	if _, has := w.set.Get(taskTool); !has {
		return nil
	}
	for _, k := range w.kinds {
		if k.Problem == "" && k.Task && k.By == "" {
			note := k.Description
			if k.Path != "" {
				note = strings.TrimSpace(note + " (" + k.Path + ")")
			}
			out = append(out, api.Mode{Name: k.Name, Means: note})
		}
	}
	return out
}
