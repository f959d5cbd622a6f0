package archtest

func centre() []Row {
	return []Row{
		{Package: "tool", Room: true, May: []string{"tool/schema", "tool/laxjson", "tool/fuzzy"}, Never: effects(),
			Why: "tool is the centre and knows nobody but rooms that do not know it: effects go through its fields"},
		{Package: "tool/schema", Room: true, May: []string{"tool/laxjson", "tool/fuzzy"}, Never: effects(),
			Why: "it knows schemas and values, neither tools nor calls; nothing is fetched"},
		{Package: "tool/laxjson", Room: true, Never: effects(), Why: "it reads a text that is almost JSON and knows no schema"},
		{Package: "tool/fuzzy", Room: true, Never: effects(), Why: "names, as texts"},
		{Package: "tool/rank", Room: true, May: []string{"tool", "tool/fuzzy"}, Never: effects(),
			Why: "it rates what tools say of themselves; it runs none and opens nothing"},
	}
}
