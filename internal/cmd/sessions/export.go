package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/osfile/atomicfile"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/export"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

type exportFlags struct {
	format, file string
	force        bool
}

func (p past) export() *cobra.Command {
	var e exportFlags
	c := &cobra.Command{Use: "export [ID]", Annotations: cmd.CallableByTools(), Short: "Write a session as Markdown, JSON, or one page of HTML", Args: cmd.RangeArgs(0, 1), ValidArgsFunction: p.ids,
		Long: `Writes prompts, answers, and of each call what its tool lets be shown, with the differences of files that it changed.
Outputs, thoughts and the system prompt stay out, secrets are masked again, your home folder is written ~, and what was
left out is counted at the end. The page needs nothing else: no script, and nothing is fetched when it is opened. Without an
ID: the session last used in this folder.`,
		Example: "  adze sessions export 20261121t0245 -o fix.html\n  adze sessions export 20261121t0245 --format json > session.json\n  adze sessions export 20261121t0245 | less",
		RunE: func(c *cobra.Command, words []string) error {
			if cmd.Flagged(c, "json") {
				e.format = "json"
			}
			if e.file == "-" {
				e.file = ""
			}
			return p.exportSession(c.Context(), first(words), e)
		}}
	c.Flags().StringVar(&e.format, "format", "", "`md|json|html`; default: as the file's name ends, else md")
	c.Flags().StringVarP(&e.file, "output", "o", "", "write to this `FILE`, which must not be there yet; default, and -: stdout")
	c.Flags().BoolVar(&e.force, "force", false, "replace the file when it is there")
	c.Flags().Bool("json", false, "the same as --format json")
	return c
}

func (p past) exportSession(ctx context.Context, prefix string, e exportFlags) error {
	format, err := e.formatOf()
	if err != nil {
		return err
	}
	if e.file != "" && !e.force { // before reading anything
		if _, err := os.Lstat(e.file); err == nil {
			return alreadyThere(e.file)
		}
	}
	d, err := p.document(ctx, prefix)
	if err != nil {
		return err
	}
	text := d.Markdown()
	switch format {
	case "json":
		text, err = d.JSON()
	case "html":
		text = d.HTML()
	}
	if err != nil {
		return err
	}
	if e.file == "" {
		_, err := p.Out.Write(text)
		return err
	}
	if err := write(e.file, text, e.force); err != nil {
		return err
	}
	p.Show("%s: %d bytes of %s\n", e.file, len(text), format)
	return nil
}

func (e exportFlags) formatOf() (string, error) {
	format := e.format
	if format == "" {
		switch strings.ToLower(filepath.Ext(e.file)) {
		case ".json":
			format = "json"
		case ".html", ".htm":
			format = "html"
		default:
			format = "md"
		}
	}
	switch format {
	case "md", "json", "html":
		return format, nil
	case "markdown":
		return "md", nil
	}
	return "", usage.Mistake("the formats are: md, json, html", "there is no format %q", format)
}

func (p past) document(ctx context.Context, prefix string) (d *export.Document, err error) {
	o := export.Options{Home: p.Getenv("HOME")}
	var log []session.Entry
	err = p.Store(ctx, func(s *sessiondb.Store) error {
		head, err := p.one(ctx, s, prefix)
		if err != nil {
			return err
		}
		o.Session, o.Title = head.ID, head.Title()
		log, err = s.Load(ctx, o.Session)
		return cmd.Readable(err)
	})
	if err != nil {
		return nil, err
	}
	err = p.Tools(ctx, func(set *tool.Set) error {
		o.Tools, o.Mask = set, p.Mask()
		d = export.FromLog(log, o)
		return nil
	})
	return d, err
}

func alreadyThere(file string) error {
	return usage.Mistake("take another name, or --force to replace it", "%s is there already", safeterm.Name(file))
}

// write creates a complete file that only its owner can read, or none.
func write(file string, text []byte, force bool) error {
	put := atomicfile.Create
	if force {
		put = atomicfile.Write
	}
	err := put(file, text)
	switch {
	case errors.Is(err, fs.ErrExist):
		return alreadyThere(file)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return usage.Mistake("name a folder that is there and can be written", "could not write %s: %v", safeterm.Name(file), err)
	case err != nil:
		return fmt.Errorf("could not write %s: %w", safeterm.Name(file), err)
	}
	return nil
}
