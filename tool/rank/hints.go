package rank

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// hint is a word implied by a value in a query: a URL implies a page, photo.jpg an image.
type hint struct{ word, value string }

func hints(query string) []hint {
	var out []hint
	for value := range strings.FieldsSeq(strings.ToLower(query)) {
		value = strings.Trim(value, `.,;:!?"'()`)
		for w := range strings.FieldsSeq(meaning(value)) {
			out = append(out, hint{w, value})
		}
	}
	return out
}

func meaning(value string) string {
	if strings.IndexFunc(value, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 {
		return "" // a plain word has no shape
	}
	for _, s := range looks() {
		if s.like.MatchString(value) {
			return s.words
		}
	}
	return endings()[path.Ext(value)]
}

// look is a value's shape with its implied words.
type look struct {
	like  *regexp.Regexp
	words string
}

var looks = sync.OnceValue(func() []look {
	var out []look
	for _, s := range [][2]string{
		{`^https?://`, "url page web"},
		{`^[^@]+@[^@]+\.[a-z]+$`, "email address"},
		{`^(\d{1,3}\.){3}\d{1,3}$`, "host network"},
		{`^#\d+$`, "issue number"},
		{`^#[a-z][a-z0-9_-]*$`, "channel"},
		{`^@[a-z][a-z0-9._-]*$`, "user"},
		{`^([01]?\d|2[0-3])(:[0-5]\d|:[0-5]\d[ap]m|[ap]m)$`, "time"},
		{`^[$€£¥]\d|^\d+[$€£¥]$`, "amount currency"},
		{`^v?\d+\.\d+\.\d+$`, "version"},
		{`^\d+([.,]\d+)?%$`, "percent"},
	} {
		out = append(out, look{regexp.MustCompile(s[0]), s[1]})
	}
	return out
})

var endings = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for words, list := range map[string]string{
		"image":        ".png .jpg .jpeg .gif .webp .avif .svg .heic",
		"video":        ".mp4 .mov .mkv .avi .webm",
		"audio":        ".mp3 .wav .m4a .ogg .flac",
		"archive":      ".zip .tar .gz .tgz .7z .rar",
		"pdf document": ".pdf",
		"document":     ".doc .docx .odt",
		"presentation": ".ppt .pptx .key",
		"spreadsheet":  ".xls .xlsx .ods",
		"csv data":     ".csv .tsv .parquet",
		"json":         ".json .jsonl",
		"config file":  ".yaml .yml .toml .ini .env",
		"text file":    ".md .txt .log .rst",
		"file code":    ".go .py .js .ts .rs .c .h .cpp .java .rb .php .sh .sql",
	} {
		for ending := range strings.FieldsSeq(list) {
			out[ending] = words
		}
	}
	return out
})
