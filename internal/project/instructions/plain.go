package instructions

import "strings"

// plain takes HTML comments out of a Markdown text and lists what it imports: names behind an @
// that begins a line or follows a blank. What stands in code stays as it is and imports nothing.
func plain(text string) (out string, imports []string) {
	p := plainer{rest: text}
	for p.rest != "" {
		line, rest, more := strings.Cut(p.rest, "\n")
		p.rest = rest
		if more {
			line += "\n"
		}
		p.line(line)
	}
	return p.out.String(), p.imports
}

// maxImports bounds what one file names with @: each costs a look at the disk.
const maxImports = 100

type plainer struct {
	rest    string // the lines after the one that is read
	out     strings.Builder
	imports []string
	fence   string // the run of ` or ~ that opened a block; if empty, none is open
	comment bool
}

func (p *plainer) line(line string) {
	if p.comment {
		_, after, ended := strings.Cut(line, "-->")
		if !ended {
			return
		}
		p.comment = false
		if strings.TrimSpace(after) == "" {
			return
		}
		line = after
	} else if run := fenceOf(line); p.fence != "" || run != "" {
		p.out.WriteString(line)
		switch {
		case p.fence == "":
			p.fence = run
		case run != "" && run[0] == p.fence[0] && len(run) >= len(p.fence) && strings.Trim(line, " \t\r\n"+run[:1]) == "":
			p.fence = ""
		}
		return
	}
	p.words(line)
}

// fenceOf is the run that begins a fenced block; if empty, the line begins none.
func fenceOf(line string) string {
	text := strings.TrimLeft(line, " \t")
	n := 0
	for n < len(text) && (text[n] == '`' || text[n] == '~') && text[n] == text[0] {
		n++
	}
	if n < 3 || text[0] == '`' && strings.Contains(text[n:], "`") {
		return ""
	}
	return text[:n]
}

// words goes through a line outside of blocks.
func (p *plainer) words(line string) {
	var b strings.Builder
	commented := false
	for at := 0; at < len(line); {
		rest := line[at:]
		switch {
		case rest[0] == '`':
			n := len(rest) - len(strings.TrimLeft(rest, "`"))
			n += span(rest[n:], rest[:n])
			b.WriteString(rest[:n])
			at += n
			continue
		case strings.HasPrefix(rest, "<!--"):
			inside := rest[len("<!--"):]
			if end := strings.Index(inside, "-->"); end >= 0 {
				commented = true
				at += len("<!--") + end + len("-->")
				continue
			}
			if strings.Contains(p.rest, "-->") {
				commented, p.comment = true, true
				at = len(line)
				continue
			}
		case rest[0] == '@' && (at == 0 || strings.IndexByte(" \t(", line[at-1]) >= 0):
			name := rest[1:]
			if end := strings.IndexAny(name, " \t\r\n`"); end >= 0 {
				name = name[:end]
			}
			if name != "" && len(p.imports) < maxImports {
				p.imports = append(p.imports, name)
			}
		}
		b.WriteByte(rest[0])
		at++
	}
	if commented && strings.TrimSpace(b.String()) == "" {
		return
	}
	p.out.WriteString(b.String())
	if commented && p.comment {
		p.out.WriteByte('\n')
	}
}

// span is how far a code span goes behind the run that opens it; if 0, it is none.
func span(text, run string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], run)
		if i < 0 {
			return 0
		}
		at += i
		n := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if n == len(run) {
			return at + n
		}
		at += n
	}
}
