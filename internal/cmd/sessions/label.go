package sessions

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

func (p past) rename() *cobra.Command {
	var lines bool
	c := &cobra.Command{Use: "rename ID TITLE…", Short: "Give a session a title of your own", Args: cmd.RangeArgs(2, -1), ValidArgsFunction: p.ids,
		Example: "  adze sessions rename 20261121t0245 the parser, second try\n  adze sessions rename 20261121t0245 ''   # as it was",
		RunE: func(c *cobra.Command, words []string) error {
			title := strings.Join(strings.Fields(strings.Join(words[1:], " ")), " ")
			return p.label(c.Context(), words[0], lines, sessiondb.Label{Kind: sessiondb.TitleLabel, Value: title})
		}}
	c.Flags().BoolVar(&lines, "json", false, "print one JSON object")
	return c
}

func (p past) tag() *cobra.Command {
	var lines bool
	c := &cobra.Command{Use: "tag ID [+TAG] [-TAG]…", Short: "Mark a session, or take marks away", Args: cmd.RangeArgs(1, -1), ValidArgsFunction: p.ids,
		Long: `Marks a session by +TAG, and takes a mark away by -TAG; without them it shows the marks that it has. What is marked keep
stays when sessions.keep of the configuration lets others go.`,
		Example: "  adze sessions tag 20261121t0245 +keep +parser\n  adze sessions tag 20261121t0245 -- -parser\n  adze sessions list --tag parser",
		// A tag to remove looks like a flag.
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, words []string) error {
			id, labels, lines, err := tagsOf(c, words)
			if err != nil || id == "" {
				return err
			}
			return p.label(c.Context(), id, lines, labels...)
		}}
	c.Flags().BoolVar(&lines, "json", false, "print one JSON object")
	return c
}

// tagsOf parses the arguments of sessions tag. An empty id means that help was requested.
func tagsOf(c *cobra.Command, words []string) (id string, labels []sessiondb.Label, lines bool, err error) {
	for _, w := range words {
		switch {
		case w == "--help" || w == "-h":
			return "", nil, false, c.Help()
		case w == "--json":
			lines = true
		case w == "--":
		case id == "":
			id = w
		default:
			l, err := TagOf(w)
			if err != nil {
				return "", nil, false, err
			}
			labels = append(labels, l)
		}
	}
	return id, labels, lines, cmd.RangeArgs(1, -1)(c, append([]string{}, strings.Fields(id)...))
}

// TagOf parses +TAG, TAG or -TAG.
func TagOf(word string) (sessiondb.Label, error) {
	l := sessiondb.Label{Kind: sessiondb.TagLabel, Value: strings.TrimPrefix(word, "+")}
	if value, away := strings.CutPrefix(word, "-"); away {
		l = sessiondb.Label{Kind: sessiondb.UntagLabel, Value: value}
	}
	odd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == ',' }
	if l.Value == "" || strings.HasPrefix(l.Value, "-") || strings.ContainsFunc(l.Value, odd) || len(l.Value) > 64 {
		return l, usage.Mistake("such as +keep, or -keep to take it away", "%q is no mark", word)
	}
	return l, nil
}

// label changes a session's tags and prints them.
func (p past) label(ctx context.Context, prefix string, lines bool, labels ...sessiondb.Label) error {
	change := p.Change
	if len(labels) == 0 {
		change = p.Store
	}
	return change(ctx, func(s *sessiondb.Store) error {
		head, err := p.one(ctx, s, prefix)
		if err != nil {
			return err
		}
		for i := range labels {
			labels[i].Author, labels[i].Value = sessiondb.ByPerson, p.Mask().Text(labels[i].Value)
		}
		if len(labels) > 0 {
			if err := s.Owner().Label(ctx, head.ID, labels...); err != nil {
				return cmd.Readable(err)
			}
		}
		heads, _, err := s.Page(ctx, sessiondb.Filter{All: true, Prefix: string(head.ID), Limit: 1})
		if err != nil || len(heads) == 0 {
			return cmd.Readable(err)
		}
		return p.tellHead(heads[0], lines)
	})
}

func (p past) tellHead(h session.Head, lines bool) error {
	if lines {
		return p.WriteJSON(lineOf(h))
	}
	_, err := fmt.Fprintf(p.Stdout(), "%s  %s\n", safeterm.Name(string(h.ID)), safeterm.Name(named(h)))
	return err
}
