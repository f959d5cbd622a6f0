package sessions

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/export"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

func (p past) importing() *cobra.Command {
	c := &cobra.Command{Use: "import FILE", Short: "Make a session of what adze sessions export wrote as JSON", Args: cmd.RangeArgs(1, 1),
		Long: `The session is a new one of this folder, marked as imported: nothing that anybody allowed there is allowed here, and what
your tools do not let be shown is not taken. "-" reads from stdin.`,
		Example: "  adze sessions import session.json\n  ssh host adze sessions export 20261121t0245 --format json | adze sessions import -",
		RunE: func(c *cobra.Command, words []string) error {
			return p.importSession(c.Context(), words[0], cmd.Flagged(c, "json"))
		}}
	c.Flags().Bool("json", false, "print one JSON object per line")
	return c
}

// importLine is the --json object.
type importLine struct {
	ID       session.ID `json:"id"`
	From     session.ID `json:"imported_from"`
	Title    string     `json:"title"`
	Messages int        `json:"messages"`
}

func (p past) importSession(ctx context.Context, file string, asJSON bool) error {
	raw, err := p.readExport(file)
	if err != nil {
		return err
	}
	d, err := export.Decode(raw)
	if err != nil {
		return usage.Mistake("adze sessions export ID --format json writes what can be read", "%s: %s", safeterm.Name(file), safeterm.Name(err.Error()))
	}
	o := export.ImportOptions{Time: time.Now().UTC(), SHA256: fmt.Sprintf("%x", sha256.Sum256(raw))}
	if o.Cwd, err = p.CurrentFolder(); err != nil {
		return err
	}
	var log []session.Entry
	err = p.Tools(ctx, func(set *tool.Set) (err error) {
		o.Tools = set
		log, err = d.Entries(o)
		return err
	})
	if err != nil {
		return err
	}
	id := session.NewID(o.Time)
	if err := p.Change(ctx, func(s *sessiondb.Store) error { return keepImport(ctx, s, id, d, log) }); err != nil {
		return err
	}
	if asJSON {
		return p.WriteJSON(importLine{id, d.Session, d.Title, len(d.Messages)})
	}
	p.Show("%s: %d messages, imported from the session %s\n", id, len(d.Messages), safeterm.Name(string(d.Session)))
	return nil
}

// keepImport stores a log and its session's name, completely or not at all.
func keepImport(ctx context.Context, s *sessiondb.Store, id session.ID, d *export.Document, log []session.Entry) error {
	if err := s.Append(ctx, id, log...); err != nil {
		return cmd.Readable(err)
	}
	heads, err := s.List(ctx)
	for _, h := range heads {
		if h.ID == id && h.Title() != d.Title && d.Title != "" {
			err = s.Owner().Label(ctx, id, sessiondb.Label{Kind: sessiondb.TitleLabel, Value: d.Title, Author: sessiondb.ByPerson})
		}
	}
	return cmd.Readable(err)
}

// maxImport limits the file, in bytes.
const maxImport = 512 << 20

func (p past) readExport(file string) ([]byte, error) {
	from := io.Reader(p.In)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, usage.Mistake("name what adze sessions export --format json wrote", "%v", err)
		}
		defer f.Close()
		from = f
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxImport+1))
	if err != nil {
		return nil, usage.Mistake("name what adze sessions export --format json wrote", "could not read %s: %v", safeterm.Name(file), err)
	}
	return raw, nil
}
