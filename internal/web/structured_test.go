package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// served is what a fetch makes of a body with a type.
func served(t *testing.T, contentType, body string, r Request) (Page, error) {
	t.Helper()
	return get(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write([]byte(body))
	}, r)
}

func TestJSONIsLaidOut(t *testing.T) {
	var items []string
	for i := range 40 {
		items = append(items, fmt.Sprintf(`{"id":%d,"name":"item, with } and \"quotes\" %d","tags":["a","b"],"nested":{"long":"%s","empty":{}}}`, i, i, strings.Repeat("x", 90)))
	}
	body := `{"items":[` + strings.Join(items, ",") + `],"next":null}`
	for _, contentType := range []string{"application/json", "application/vnd.api+json", "text/plain", "text/html"} {
		page, err := served(t, contentType, body, Request{})
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal([]byte(body), &a) != nil || json.Unmarshal([]byte(page.Text), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: it says something else:\n%.400s", contentType, page.Text)
		}
		if !strings.Contains(page.Text, `"tags": `) && !strings.Contains(page.Text, "\n") || hasLongLine(page.Text) {
			t.Errorf("%s: not laid out:\n%.400s", contentType, page.Text)
		}
	}
	if page, _ := served(t, "application/json", body, Request{Format: Raw}); page.Text != body {
		t.Errorf("raw is %.200q", page.Text)
	}
	if page, _ := served(t, "application/json", body, Request{MaxBytes: 1000}); !page.Truncated || hasLongLine(page.Text) {
		t.Errorf("the beginning of JSON is %.200q", page.Text)
	}
	if page, _ := served(t, "application/json", `{"a": 1}`, Request{}); page.Text != `{"a": 1}` {
		t.Errorf("short JSON is %q", page.Text)
	}
}

func TestFeedsAreRead(t *testing.T) {
	for name, c := range map[string]struct{ contentType, body string }{
		"rss": {"application/rss+xml", `<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title><link>https://e.com/</link><description>All of it</description>` +
			`<item><title>First &amp; best</title><link>https://e.com/1</link><pubDate>Mon, 01 Jan 2026</pubDate><dc:creator>Ann</dc:creator><description>In short.</description><content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/">&lt;p&gt;It &lt;a href="/w"&gt;works&lt;/a&gt; with &lt;code&gt;go&lt;/code&gt;.&lt;/p&gt;&lt;script&gt;no()&lt;/script&gt;</content:encoded></item>` +
			`<item><title>Second</title><guid>https://e.com/2</guid><description><![CDATA[<p>Also.</p>]]></description></item></channel></rss>`},
		"atom": {"application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><subtitle>All of it</subtitle>` +
			`<entry><title>First &amp; best</title><link rel="self" href="https://e.com/self"/><link rel="alternate" href="https://e.com/1"/><updated>Mon, 01 Jan 2026</updated><author><name>Ann</name></author><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>It <a href="/w">works</a> with <code>go</code>.</p></div></content><summary>In short.</summary></entry>` +
			`<entry><title>Second</title><link href="https://e.com/2"/><summary>Also.</summary></entry></feed>`},
		"rdf as text": {"text/xml", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title><description>All of it</description></channel>` +
			`<item><title>First &amp; best</title><link>https://e.com/1</link><dc:date>Mon, 01 Jan 2026</dc:date><dc:creator>Ann</dc:creator><description>&lt;p&gt;It &lt;a href="/w"&gt;works&lt;/a&gt; with &lt;code&gt;go&lt;/code&gt;.&lt;/p&gt;</description></item><item><title>Second</title><link>https://e.com/2</link><description>Also.</description></item></rdf:RDF>`},
	} {
		page, err := served(t, c.contentType, c.body, Request{})
		want := "All of it\n\n## [First & best](https://e.com/1)\nMon, 01 Jan 2026 · Ann\n\nIt [works](https://e.com/w) with `go`.\n\n## [Second](https://e.com/2)\n\nAlso.\n"
		if err != nil || page.Text != want || page.Title != "News" || !strings.Contains(page.Note, "2 entries") {
			t.Errorf("%s: %v, title %q, note %q\n%s", name, err, page.Title, page.Note, page.Text)
		}
		if page, _ := served(t, c.contentType, c.body, Request{Format: Raw}); page.Text != c.body {
			t.Errorf("%s: raw is %.200q", name, page.Text)
		}
	}
	if page, err := served(t, "application/rss+xml", `<rss><channel><title>News</title><item><title>One</title></item><item><title>Tw`, Request{Format: Text}); err != nil || !strings.Contains(page.Text, "One") {
		t.Errorf("a feed without its end: %q, %v", page.Text, err)
	}
}

func TestXMLIsLaidOut(t *testing.T) {
	body := `<?xml version="1.0"?><config><server name="a"><port>80</port><empty/><note>some <b>bold</b> text</note></server>` + strings.Repeat(`<server name="b"><port>81</port></server>`, 20) + `</config>`
	page, err := served(t, "application/xml", body, Request{})
	want := "<?xml version=\"1.0\"?>\n<config>\n <server name=\"a\">\n  <port>80</port>\n  <empty/>\n  <note>some <b>bold</b> text</note>\n </server>\n <server name=\"b\">\n"
	if err != nil || !strings.HasPrefix(page.Text, want) || !strings.HasSuffix(page.Text, "\n </server>\n</config>\n") {
		t.Errorf("%v\n%s", err, page.Text)
	}
	if strings.Join(strings.Fields(page.Text), "") != strings.Join(strings.Fields(body), "") {
		t.Error("it says something else")
	}
}

func TestFewNULsAreNoBinary(t *testing.T) {
	for _, contentType := range []string{"text/html", "text/html; charset=utf-8", "", "application/octet-stream"} {
		for _, body := range []string{
			"<html><body><p>Before\x00 and after.</p></body></html>",
			"\x00<!doctype html><title>T</title><p>Before and after.</p>",
			"<!doctype html><p>Before and after.</p>" + strings.Repeat("<p>More text of the page.</p>", 100) + "\x00",
		} {
			page, err := served(t, contentType, body, Request{})
			if err != nil || !strings.HasPrefix(page.Text, "Before and after.") || strings.Contains(page.Text, "\x00") {
				t.Errorf("%q %.30q: %v, %.100q", contentType, body, err, page.Text)
			}
		}
	}
	for _, body := range []string{"GIF\x00\x01\x02\x00\x00\x03\x04\x05", strings.Repeat("\x00\x01\x02text", 50), "\x00\x00\x00\x00"} {
		if page, err := served(t, "text/html", body, Request{}); err == nil {
			t.Errorf("%q is a page: %q", body, page.Text)
		}
	}
}

// Only a page with scripts can need them.
func TestAnEmptyPageIsSaidToBeEmpty(t *testing.T) {
	for body, want := range map[string]string{
		"": "empty", "<html><body></body></html>": "empty", "<title>T</title><div id=root></div>": "empty", "<!doctype html><!-- nothing -->": "empty",
		`<div id=root></div><script src="/app.js"></script>`: "JavaScript", `<div id=root></div><script>render()</script>`: "JavaScript",
	} {
		page, err := served(t, "text/html", body, Request{})
		if err != nil || !strings.Contains(page.Note, want) || want == "empty" && strings.Contains(page.Note, "JavaScript") {
			t.Errorf("%q: %v, note %q", body, err, page.Note)
		}
	}
}
