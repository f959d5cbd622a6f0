package batch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/cmd"
	"adze/internal/fleet"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
)

// workers lists the workers that are there.
func (r runs) workers(a asked) error {
	there, err := a.Workers(a)
	if err != nil {
		return err
	}
	if cmd.Flagged(a.cmd, "json") {
		for _, w := range there {
			if err := r.WriteJSON(w); err != nil {
				return err
			}
		}
		return nil
	}
	if len(there) == 0 {
		fmt.Fprintf(r.Err, "no worker is there; start one: adze worker --on %s\n", safeterm.Name(a.Name))
		return nil
	}
	t := r.Columns()
	fmt.Fprint(t, "worker\tversion\tlabels\tfree\tof\tseen\tnote\n")
	for _, w := range there {
		labels, note := "all", ""
		if len(w.Labels) > 0 {
			labels = strings.Join(w.Labels, ",")
		}
		if n := len(w.Refuses); n > 0 {
			note = w.Refuses[n-1]
		}
		if w.Stops {
			note = "it stops"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s ago\t%s\n", clip(w.Name, 32), clip(w.Version, 16), clip(labels, 32), max(0, w.Jobs-w.Running), w.Jobs, time.Since(w.Seen).Round(time.Second), clip(note, 120))
	}
	return t.Flush()
}

// sayUnattended tells of labels of a batch whose tasks wait and that no worker takes.
func (r runs) sayUnattended(ctx context.Context, server *Fleet, id string) error {
	all, err := server.List(ctx, id)
	if err != nil {
		return err
	}
	waiting, labels := map[string]int{}, []string(nil)
	for _, run := range all {
		if run.State == fleet.Waiting {
			waiting[run.Label]++
			labels = append(labels, run.Label)
		}
	}
	if len(labels) == 0 {
		return nil
	}
	none, err := server.Unattended(ctx, labels)
	for _, label := range none {
		fmt.Fprintf(r.Err, "no worker takes tasks of the label %s now, so that %s; start one: adze worker --on %s\n", label, waits(waiting[label]), safeterm.Name(server.Name))
	}
	return err
}

func waits(n int) string {
	return plural.Of(n, "task") + " " + which(n, "waits", "wait")
}
