package rank

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNamesFallApartIntoWords(t *testing.T) {
	for text, want := range map[string]string{
		"read_file":           "read file",
		"send-mail.now":       "send mail now",
		"createIssue":         "create issue createissue",
		"HTTPServer":          "http server httpserver",
		"GitHub":              "git hub github",
		"PRs and URLs":        "prs and urls",
		"S3 k8s ec2":          "s3 k8s ec2",
		"OAuth2Token":         "o auth2 token oauth2token",
		"Größe und Übergröße": "größe und übergröße",
		"":                    "",
		"___":                 "",
	} {
		var got []string
		eachWord(text, func(w string) { got = append(got, w) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestStemsMeet(t *testing.T) {
	for _, family := range []string{
		"create creates created creating creation",
		"delete deletes deleted deleting deletion",
		"translate translates translated translating translation translations",
		"query queries queried querying",
		"branch branches branched branching",
		"stop stops stopped stopping",
		"deploy deploys deployed deploying deployment deployments",
		"configure configured configuring configuration configurations",
		"notify notified notifying notification notifications",
		"file files",
		"PR PRs",
		"process processes processed processing",
		"box boxes",
		"call calls called calling",
		"need needs",
	} {
		words := strings.Fields(strings.ToLower(family))
		for _, w := range words[1:] {
			if stem(w) != stem(words[0]) {
				t.Errorf("%s is %s, but %s is %s", words[0], stem(words[0]), w, stem(w))
			}
		}
	}
}

func TestStemsThatMustNotMeet(t *testing.T) {
	for _, pair := range []string{"form format", "string str", "need ned", "bring br", "feed fee", "status stat", "news gnu"} {
		a, b, _ := strings.Cut(pair, " ")
		if stem(a) == stem(b) {
			t.Errorf("%s and %s are both %s", a, b, stem(a))
		}
	}
}

func TestValuesHaveMeanings(t *testing.T) {
	for query, want := range map[string]string{
		"look at https://example.org/a.pdf": "url page web",
		"write to ann@example.org.":         "email address",
		"is 10.0.0.7 up?":                   "host network",
		"close #12":                         "issue number",
		"tell #general":                     "channel",
		"shrink photo.JPG":                  "image",
		"meet at 3pm":                       "time",
		"it costs $40":                      "amount currency",
		"plain words only":                  "",
		"e.g. nothing.":                     "",
	} {
		var got []string
		for _, h := range hints(query) {
			got = append(got, h.word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q means %q, want %q", query, got, want)
		}
	}
}

// FuzzWords holds for any text: words are lower case and not empty, a stem is no longer than its
// word, and all of it is fast and quiet.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"createIssue", "HTTPServer_v2", "größe\xff", "ﬀ ǅ İ", "a-b.c/d", "running stopped notifications"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		eachWord(text, func(w string) {
			if w == "" || strings.ToLower(w) != w && utf8.ValidString(w) && ascii(w) {
				t.Errorf("%q yields %q", text, w)
			}
			if s := stem(w); s == "" || len(s) > len(w)+1 {
				t.Errorf("the stem of %q is %q", w, s)
			}
		})
		hints(text)
	})
}
