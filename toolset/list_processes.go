package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/internal/text/redact"
	"adze/tool"
)

// Limits for list_processes.
const (
	processLimit   = 100
	processColumns = 300 // bytes of a command
)

type processesArgs struct {
	Filter string `json:"filter,omitempty" doc:"only commands that contain this text, in any case"`
	Limit  int    `json:"limit,omitempty" doc:"at most this many; default 100" min:"1" max:"1000"`
}

type processesMeta struct {
	Filter string       `json:"filter,omitempty"`
	Rows   []processRow `json:"rows"`
	Total  int          `json:"total"`
}

type processRow struct {
	PID     int    `json:"pid"`
	Parent  int    `json:"parent"`
	KiB     int64  `json:"kib"`
	State   string `json:"state"`
	Job     string `json:"job,omitempty"`
	Serves  string `json:"serves,omitempty"` // the job's ports
	Command string `json:"command"`
}

func listProcesses(s *Shell, asks bool) tool.Tool {
	needs := func(processesArgs) []tool.Need { return tool.StateNeed("the processes of this user") }
	if asks {
		needs = func(processesArgs) []tool.Need { return []tool.Need{{Permission: tool.Read, Target: "/proc"}} }
	}
	return tool.Define("list_processes", tool.Config[processesArgs, processesMeta]{
		Description: describe("list_processes", limits{"limit": processLimit}),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"process", "ps", "running", "server", "port", "job"},
		Aliases:     []string{"ps", "processes", "list_jobs"},
		Compat:      tool.Compat{Args: map[string]string{"name": "filter", "pattern": "filter", "query": "filter"}},
		Safety:      tool.Safety{Safe: true},
		// Other commands of the user may contain secrets, so only counts are logged.
		Redact: tool.Expose("filter", "limit", "total"),
		Needs:  needs,
		Run:    processLister{s}.run,
		View:   viewProcesses,
		Heading: func(_ processesArgs, m processesMeta) tool.Heading {
			return tool.Heading{Verb: "processes", Result: plural.Thousands(m.Total), Shape: tool.OneRow}
		},
	})
}

type processLister struct{ shell *Shell }

func (l processLister) run(_ context.Context, _ tool.Context[processesMeta], in processesArgs) (tool.Result[processesMeta], error) {
	in.Limit = bounded(in.Limit, processLimit, 1000)
	all, err := l.shell.Processes()
	if err != nil {
		return tool.Result[processesMeta]{}, asFailure(err)
	}
	meta := processesMeta{Filter: in.Filter}
	jobs := jobsByPID(l.shell.jobs.List(), all)
	want := strings.ToLower(in.Filter)
	for _, p := range all {
		p.Command = redact.Arguments(p.Command) // before filtering, so that a filter finds no secret either
		if !strings.Contains(strings.ToLower(p.Command), want) {
			continue
		}
		if meta.Total++; meta.Total <= in.Limit {
			meta.Rows = append(meta.Rows, processRow{
				PID: p.PID, Parent: p.Parent, KiB: p.Memory >> 10, State: p.State, Job: jobs[p.PID].ID, Serves: named(jobs[p.PID].Serves, ", "),
				Command: oneLine(plainText(p.Command), processColumns),
			})
		}
	}
	return tool.Result[processesMeta]{
		Title: plural.Of(meta.Total, "process"), Metadata: meta, Output: processText(meta), Truncated: meta.Total > len(meta.Rows),
	}, nil
}

func jobsByPID(jobs []proc.JobStatus, all []proc.Info) map[int]proc.JobStatus {
	owners := map[int]proc.JobStatus{}
	for _, j := range jobs {
		if !j.Running {
			continue
		}
		for _, p := range proc.Descendants(all, j.Shim) {
			owners[p.PID] = j
		}
	}
	return owners
}

func processText(m processesMeta) string {
	if m.Total == 0 {
		return "no process matches; leave the filter out to see all"
	}
	var b strings.Builder
	b.WriteString("pid parent memory command\n")
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "%d %d %s%s\n", r.PID, r.Parent, r.note(), r.Command)
	}
	if left := m.Total - len(m.Rows); left > 0 {
		fmt.Fprintf(&b, "(%d more; narrow the filter or raise limit)\n", left)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// note returns memory, unusual states, and the job.
func (r processRow) note() string {
	s := fmt.Sprintf("%dM ", r.KiB>>10)
	switch r.State {
	case "T":
		s += "(stopped) "
	case "Z":
		s += "(dead) "
	}
	switch {
	case r.Serves != "":
		s += "[" + r.Job + " serves " + r.Serves + "] "
	case r.Job != "":
		s += "[" + r.Job + "] "
	}
	return s
}

func viewProcesses(m processesMeta) []tool.Block {
	items := make([]tool.Item, len(m.Rows))
	for i, r := range m.Rows {
		items[i] = tool.Item{Text: fmt.Sprintf("%d %s", r.PID, r.Command), Note: strings.TrimSpace(r.note())}
	}
	return []tool.Block{{Kind: tool.ListBlock, Title: plural.Of(m.Total, "process"), Items: items}}
}
