package web

import (
	"context"
	"encoding/xml"
	"io"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// feed is what RSS and Atom say, as far as a reader wants it.
type feed struct {
	title, about string
	entries      []entry
}

type entry struct{ title, link, date, author, text string }

// longestEntry bounds what is shown of one entry, in bytes: many feeds hold whole articles.
const longestEntry = 2000

// xmlFeed has the elements of RSS 2.0, RSS 1.0 and Atom: their local names do not collide.
type xmlFeed struct {
	XMLName  xml.Name
	Title    string     `xml:"title"`
	Subtitle string     `xml:"subtitle"`
	Channel  *channel   `xml:"channel"`
	Items    []xmlEntry `xml:"item"`
	Entries  []xmlEntry `xml:"entry"`
}

type channel struct {
	Title       string     `xml:"title"`
	Description string     `xml:"description"`
	Items       []xmlEntry `xml:"item"`
}

type xmlEntry struct {
	Title string `xml:"title"`
	Links []struct {
		Href string `xml:"href,attr"`
		Rel  string `xml:"rel,attr"`
		Text string `xml:",chardata"`
	} `xml:"link"`
	GUID        string    `xml:"guid"`
	PubDate     string    `xml:"pubDate"`
	Date        string    `xml:"date"`
	Published   string    `xml:"published"`
	Updated     string    `xml:"updated"`
	Creator     string    `xml:"creator"`
	Author      xmlAuthor `xml:"author"`
	Description xmlText   `xml:"description"`
	Summary     xmlText   `xml:"summary"`
	Content     xmlText   `xml:"content"`
	Encoded     xmlText   `xml:"encoded"`
}

type xmlAuthor struct {
	Name string `xml:"name"`
	Text string `xml:",chardata"`
}

// xmlText is escaped text, or elements of XHTML.
type xmlText struct {
	Text  string `xml:",chardata"`
	Inner string `xml:",innerxml"`
}

func (t xmlText) source() string {
	if strings.TrimSpace(t.Text) != "" {
		return t.Text
	}
	return t.Inner
}

// readFeed reads a feed. The end may be missing: entries before it count.
func readFeed(text string) (feed, bool) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it was decoded before
	var x xmlFeed
	err := d.Decode(&x)
	switch strings.ToLower(x.XMLName.Local) {
	case "rss", "feed", "rdf":
	default:
		return feed{}, false
	}
	f := feed{title: x.Title, about: x.Subtitle}
	items := append(x.Items, x.Entries...)
	if x.Channel != nil {
		f.title, f.about = x.Channel.Title, x.Channel.Description
		items = append(items, x.Channel.Items...)
	}
	if err != nil && len(items) == 0 {
		return feed{}, false
	}
	f.title, f.about = oneLine(f.title), oneLine(f.about)
	for _, i := range items {
		f.entries = append(f.entries, i.entry())
	}
	return f, true
}

func (i xmlEntry) entry() entry {
	e := entry{title: oneLine(i.Title), date: oneLine(first(i.PubDate, i.Published, i.Updated, i.Date)), author: oneLine(first(i.Creator, i.Author.Name, i.Author.Text))}
	for _, l := range i.Links {
		if at := first(l.Href, l.Text); at != "" && (e.link == "" || l.Rel == "alternate") {
			e.link = oneLine(at)
		}
	}
	if e.link == "" && strings.Contains(i.GUID, "://") {
		e.link = oneLine(i.GUID)
	}
	e.text = first(i.Encoded.source(), i.Content.source(), i.Description.source(), i.Summary.source()) // the whole, where a feed has it
	return e
}

func first(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(html.UnescapeString(s)), " ")
}

// text is a feed as Markdown, or as plain text.
func (f feed) text(format Format) string {
	var b strings.Builder
	if f.about != "" && f.about != f.title {
		b.WriteString(f.about + "\n\n")
	}
	for _, e := range f.entries {
		title := first(e.title, e.link, "(no title)")
		switch {
		case format == Text || e.link == "":
			b.WriteString(title + "\n")
		default:
			b.WriteString("## [" + strings.NewReplacer("[", "(", "]", ")").Replace(title) + "](" + e.link + ")\n")
		}
		if format == Text && e.link != "" {
			b.WriteString(e.link + "\n")
		}
		if about := strings.Trim(e.date+" · "+e.author, " ·"); about != "" {
			b.WriteString(about + "\n")
		}
		if said := e.said(format); said != "" {
			b.WriteString("\n" + said + "\n")
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// said is the text of an entry, its beginning where it is long.
func (e entry) said(format Format) string {
	root, _, fault := parseHTML(context.Background(), e.text[:min(len(e.text), 16*longestEntry)])
	if fault != nil {
		return ""
	}
	doc := goquery.NewDocumentFromNode(root)
	dropUnseen(doc)
	content := wrap(doc.Find("body").Contents())
	if base, err := url.Parse(e.link); err == nil {
		resolveLinks(content, base)
	}
	tidyCode(content)
	said, fault := write(context.Background(), content, format)
	if said = strings.TrimSpace(said); fault != nil || len(said) <= longestEntry {
		return said
	}
	said = clip(said, longestEntry) + " …"
	if strings.Count(said, "```")%2 == 1 {
		said += "\n```"
	}
	return said
}
