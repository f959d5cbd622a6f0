package web

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// tidyCode normalizes code blocks from common highlighters: the language becomes the class known to
// converters; surrounding tables and line numbers are removed.
func tidyCode(content *goquery.Selection) {
	content.Find("table").Each(func(_ int, table *goquery.Selection) {
		// Highlighters put line numbers and code in two cells of a one-row table.
		pre := table.Find("td.code pre, td.rouge-code pre, td.hljs-ln-code pre")
		if pre.Length() == 1 {
			table.ReplaceWithSelection(pre)
		}
	})
	content.Find("pre").Each(func(_ int, pre *goquery.Selection) {
		language := languageOf(pre)
		pre.RemoveAttr("class")
		pre.Find("code").RemoveAttr("class")
		if language != "" {
			pre.SetAttr("class", "language-"+language)
		}
	})
}

// languageOf looks for a language name on a code block, on the code in it and on two ancestors.
func languageOf(pre *goquery.Selection) string {
	near := []*goquery.Selection{pre, pre.ChildrenFiltered("code"), pre.Parent(), pre.Parent().Parent()}
	for _, s := range near {
		if s.Length() == 0 || s.Nodes[0].Type != html.ElementNode {
			continue
		}
		for _, attr := range []string{"data-lang", "data-language"} {
			if name := languageName(s.AttrOr(attr, "")); name != "" {
				return name
			}
		}
		if name := languageInClass(s.AttrOr("class", "")); name != "" {
			return name
		}
	}
	return languageName(pre.AttrOr("lang", ""))
}

// languageInClass returns the language in a class name from Prism, highlight.js, GitHub, Sphinx,
// Pandoc or SyntaxHighlighter.
func languageInClass(class string) string {
	words := strings.Fields(class)
	for i, w := range words {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-text-", "highlight-"} {
			if name, ok := strings.CutPrefix(w, prefix); ok {
				return languageName(name)
			}
		}
		if (w == "sourceCode" || w == "hljs" || w == "brush:") && i+1 < len(words) {
			return languageName(strings.TrimSuffix(words[i+1], ";"))
		}
	}
	return ""
}

// languageName returns s if it can follow a code fence and names a language.
func languageName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) > 30 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+#-_.") != "" {
		return ""
	}
	switch s {
	case "none", "plaintext", "default", "notranslate", "nohighlight", "copy":
		return ""
	}
	return s
}
