package batch

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"adze/internal/cmd"
	"adze/internal/fleet"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/plural"
	"adze/internal/text/usage"
)

// found tells the runs of all words.
func (a asked) found() (all []fleet.Run, err error) {
	for _, word := range a.words {
		some, err := a.Find(a, word)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (r runs) cancel(a asked) error {
	all, err := a.found()
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // for who asks who it was; without a name it is nobody's
	n, err := a.Cancel(a, all, host)
	if err != nil {
		return err
	}
	r.Show("%s cancelled, %d %s over\n", runsDo(n, "is", "are"), len(all)-n, which(len(all)-n, "was", "were"))
	return nil
}

func (r runs) retry(a asked) error {
	all, err := a.found()
	if err != nil {
		return err
	}
	causes, _ := a.cmd.Flags().GetStringSlice("cause")
	if len(causes) > 0 {
		all = slices.DeleteFunc(all, func(run fleet.Run) bool {
			return !run.State.Over() || !slices.Contains(causes, run.Outcome().Cause)
		})
	}
	if most, _ := a.cmd.Flags().GetFloat64("max-cost"); most > 0 {
		for _, of := range batches(all) {
			if err := a.Raise(a, of, most); err != nil {
				return err
			}
		}
	}
	n, err := a.Retry(a, all)
	if err != nil {
		return err
	}
	r.Show("%s for another round\n", runsDo(n, "waits", "wait"))
	return nil
}

// delete removes batches for ever.
func (r runs) delete(a asked) (err error) {
	expired := cmd.Flagged(a.cmd, "expired")
	if expired != (len(a.words) == 0) {
		return usage.Mistake("adze runs list shows the batches", "name batches, or --expired for those that batch.keep_days lets go")
	}
	logs, end, err := a.Logs(a)
	if err != nil {
		return err
	}
	defer end()
	server, gone := retention.Server{Runs: a.Cluster, Logs: logs}, retention.Gone{}
	defer func() {
		for _, id := range gone.Batches {
			r.Show("removed batch %s\n", id)
		}
		if n := len(gone.Sessions); n > 0 || expired {
			r.Show("removed %s and %s\n", plural.Of(n, "session"), plural.Of(gone.Contents, "content"))
		}
	}()
	if expired {
		gone, err = server.Expire(a, a.Rules, time.Now())
		return err
	}
	for _, id := range a.words {
		over, err := a.Over(a, id)
		if errors.Is(err, fleet.ErrRuns) {
			return usage.Mistake("adze runs cancel "+id+" ends it", "%v", err)
		}
		if err != nil {
			return err
		}
		if ok, err := r.agrees(a, id, len(over)); !ok {
			return err
		}
		if err := server.Batch(a, id, sessiondb.ByHand, &gone); err != nil {
			return err
		}
	}
	return server.Unnamed(a, time.Now(), &gone)
}

// agrees asks the user, where they did not say so before.
func (r runs) agrees(a asked, id string, n int) (bool, error) {
	if cmd.Flagged(a.cmd, "yes") {
		return true, nil
	}
	if !term.IsTerminal(r.In.Fd()) {
		return false, usage.Mistake("add --yes", "removing batches needs a yes, and nobody is there to ask")
	}
	fmt.Fprintf(r.Err, "remove batch %s with %s for ever? [y/N] ", id, plural.Of(n, "run"))
	line, _ := bufio.NewReader(r.In).ReadString('\n') // the end of the input is a no
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

func batches(all []fleet.Run) (out []string) {
	for _, run := range all {
		if !slices.Contains(out, run.Batch) {
			out = append(out, run.Batch)
		}
	}
	return out
}

func (r runs) limit(a asked) error {
	most, err := strconv.Atoi(a.words[1])
	if err != nil || most < 0 || !fleet.SoundLabel(a.words[0]) {
		return usage.Mistake("adze runs limit core 4", "%q and %q are no label and number", a.words[0], a.words[1])
	}
	return a.Queue.Limit(a, a.words[0], most)
}

// counted is what stats tells of a state and cause.
type counted struct {
	State string  `json:"state"`
	Cause string  `json:"cause,omitempty"`
	Runs  int     `json:"runs"`
	Cost  float64 `json:"cost_usd"`
}

func (r runs) stats(a asked) error {
	of := ""
	if len(a.words) == 1 {
		o, err := a.Order(a, a.words[0])
		if err != nil {
			return err
		}
		of = o.ID
	}
	all, err := a.List(a, of)
	if err != nil {
		return err
	}
	sizes, err := a.Queue.Sizes(a)
	if err != nil {
		return err
	}
	sizes = waiting(sizes, all)
	rows := count(all)
	if cmd.Flagged(a.cmd, "json") {
		for _, row := range rows {
			if err := r.WriteJSON(row); err != nil {
				return err
			}
		}
		for _, s := range sizes {
			if err := r.WriteJSON(s); err != nil {
				return err
			}
		}
		return nil
	}
	t := r.Columns()
	fmt.Fprint(t, "state\tcause\truns\tcost\n")
	for _, row := range rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", row.State, clip(row.Cause, 40), row.Runs, dollars(row.Cost))
	}
	fmt.Fprint(t, "\nlabel\tpriority\twaiting\ttaken\tlimit\n")
	for _, s := range sizes {
		limit := ""
		if s.Limit > 0 {
			limit = strconv.Itoa(s.Limit)
		}
		fmt.Fprintf(t, "%s\tp%d\t%d\t%d\t%s\n", s.Label, s.Priority, s.Waiting, s.Taken, limit)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if a.Durability != "" {
		r.Show("%s\n", a.Durability)
	}
	return nil
}

// waiting has sizes tell of all runs that wait: few of them have a ticket in the queue.
func waiting(sizes []fleet.Size, all []fleet.Run) []fleet.Size {
	for i := range sizes {
		sizes[i].Waiting = 0
	}
	for _, run := range all {
		if run.State != fleet.Waiting {
			continue
		}
		at := slices.IndexFunc(sizes, func(s fleet.Size) bool { return s.Label == run.Label && s.Priority == run.Priority })
		if at < 0 {
			at = len(sizes)
			sizes = append(sizes, fleet.Size{Label: run.Label, Priority: run.Priority})
		}
		sizes[at].Waiting++
	}
	return sizes
}

func count(all []fleet.Run) (rows []counted) {
	at := map[string]int{}
	for _, run := range all {
		row := counted{State: string(run.State)}
		if run.Result != nil {
			row.Cause = run.Result.Cause
		}
		key := row.State + "\n" + row.Cause
		if _, there := at[key]; !there {
			at[key] = len(rows)
			rows = append(rows, row)
		}
		into := &rows[at[key]]
		into.Runs++
		if into.Cost += run.Earlier; run.Cost != nil {
			into.Cost += *run.Cost
		}
	}
	slices.SortFunc(rows, func(x, y counted) int {
		return cmp.Or(strings.Compare(x.State, y.State), y.Runs-x.Runs, strings.Compare(x.Cause, y.Cause))
	})
	return rows
}

// runsDo says what so many runs do.
func runsDo(n int, one, more string) string {
	return fmt.Sprintf("%d %s %s", n, which(n, "run", "runs"), which(n, one, more))
}

func which(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
