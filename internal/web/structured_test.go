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

func TestLongLinesOfJSONAreBroken(t *testing.T) {
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
		if strings.Count(page.Text, "\n") < 40 || hasLongLine(page.Text) {
			t.Errorf("%s: long lines are not broken:\n%.400s", contentType, page.Text)
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

func TestLongLinesOfXMLAreBroken(t *testing.T) {
	body := `<?xml version="1.0"?><rss><item><title>First &amp; best</title><link>https://e.com/1</link></item>` + strings.Repeat(`<item><title>some <b>bold</b> text</title></item>`, 20) + `</rss>`
	page, err := served(t, "application/rss+xml", body, Request{})
	want := "<?xml version=\"1.0\"?>\n<rss>\n<item>\n<title>First &amp; best</title>\n<link>https://e.com/1</link>\n</item>\n"
	if err != nil || !strings.HasPrefix(page.Text, want) {
		t.Errorf("%v\n%s", err, page.Text)
	}
	if strings.ReplaceAll(page.Text, "\n", "") != body {
		t.Error("it says something else")
	}
	if page, _ := served(t, "application/rss+xml", body, Request{Format: Raw}); page.Text != body {
		t.Errorf("raw is %.200q", page.Text)
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
