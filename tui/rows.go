package tui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/ui"
)

// freeModel returns a parser for a typed model name.
func freeModel(key string) func(text string) (list.Choice, bool) {
	return func(text string) (list.Choice, bool) {
		provider, name, ok := strings.Cut(text, "/")
		if !ok || provider == "" || name == "" || strings.ContainsAny(text, " \t") {
			return list.Choice{}, false
		}
		return list.Choice{ID: text, Label: text, Note: "not in the list; " + key + " tries it"}, true
	}
}

func modelChoices(rows []api.ModelRow, now string) []list.Choice {
	var out []list.Choice
	for _, r := range rows {
		c := list.Choice{ID: r.Name, Label: r.Name, DisabledReason: r.Why}
		if r.Why == "" {
			c.Note = modelFacts(r)
		}
		if r.Name == now {
			c.Label += " (now)"
		}
		out = append(out, c)
	}
	return out
}

// modelFacts returns a model's properties in columns.
func modelFacts(r api.ModelRow) string {
	context, price := "", ""
	if r.Context > 0 {
		context = tokens(r.Context)
	}
	if r.Input != nil && r.Output != nil {
		price = fmt.Sprintf("$%s/$%s", money(*r.Input), money(*r.Output))
	}
	marks := []string{}
	if r.Tools {
		marks = append(marks, "tools")
	}
	if r.Vision {
		marks = append(marks, "vision")
	}
	if r.Note != "" {
		marks = append(marks, r.Note)
	}
	return strings.TrimRight(fmt.Sprintf("%5s  %-12s %s", context, price, strings.Join(marks, " ")), " ")
}

// tokens formats a context window: 200k, 1M.
func tokens(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 < 50_000:
		return strconv.FormatFloat(float64(n/100_000)/10, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

func money(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }

func sessionChoices(heads []api.SessionHead, info Info, now time.Time) []list.Choice {
	var here, elsewhere []list.Choice
	for _, h := range heads {
		c := list.Choice{ID: h.ID, Label: cmp.Or(ui.Shorten(h.Title), h.ID), Find: h.Cwd + " " + h.ID + " " + strings.Join(h.Tags, " ")}
		when := ui.Age(now, h.Updated)
		if h.ID == info.Session {
			when = "open now"
		}
		c.Note = fmt.Sprintf("%-11s %s", when, h.Model)
		if len(h.Tags) > 0 {
			c.Note += "  [" + strings.Join(h.Tags, " ") + "]"
		}
		if h.Worktree != "" {
			c.Note += "  work tree " + h.Worktree
			c.Find += " " + h.Worktree
		}
		if h.Cwd == info.Cwd {
			here = append(here, c)
		} else {
			if h.Worktree == "" {
				c.Note += "  in " + filepath.Base(h.Cwd)
			}
			elsewhere = append(elsewhere, c)
		}
	}
	return append(here, elsewhere...)
}

// placeMark separates the session id from the place in a row's id.
const placeMark = "\x00"

// placeOf parses a row's id into a session and a place in it.
func placeOf(row string) (id string, at api.Place) {
	id, rest, _ := strings.Cut(row, placeMark)
	message, call, _ := strings.Cut(rest, placeMark)
	return id, api.Place{Message: message, Call: tool.CallID(call)}
}

// foundChoices returns list rows for search results.
func foundChoices(found []api.SearchResult, info Info, now time.Time) (out []list.Choice) {
	for _, f := range found {
		where := ui.Shorten(f.Title)
		if f.Session == info.Session {
			where = "this session"
		}
		if f.Cwd != info.Cwd {
			where += "  in " + filepath.Base(f.Cwd)
		}
		out = append(out, list.Choice{
			ID:    f.Session + placeMark + f.Message + placeMark + string(f.Call),
			Label: "“" + f.Snippet + "”",
			Note:  fmt.Sprintf("%s, %s  %s", f.Kind, ui.Age(now, f.Time), where),
		})
	}
	return out
}

// peekBytes limits the shown part of a message, in bytes.
const peekBytes = 4 << 10

func peekLines(p api.SessionPeek) []draw.Span {
	facts := plural.Of(p.Turns, "turn") + ", " + plural.Of(p.Messages, "message")
	if p.Cost != nil {
		facts += fmt.Sprintf(", $%.2f", *p.Cost)
	}
	lines := []draw.Span{{Style: draw.Dim, Text: safeterm.Name(facts)}}
	for _, said := range []struct {
		style draw.Style
		text  string
	}{{draw.UserText, p.Asked}, {draw.Plain, p.Answered}} {
		text := strings.TrimSpace(said.text)
		if len(text) > peekBytes {
			text = strings.ToValidUTF8(text[:peekBytes], "") + "…"
		}
		if text == "" {
			continue
		}
		lines = append(lines, draw.Span{})
		for _, line := range safeterm.Clean(text).Lines() {
			lines = append(lines, draw.Span{Style: said.style, Text: line})
		}
	}
	return lines
}

func oneRow(s string) string { return strings.Join(strings.Fields(s), " ") }
