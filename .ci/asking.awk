# Prints the tests of a package that ask how far they are to go: awk -f .ci/asking.awk FOLDER/*_test.go
# A declaration asks that uses a package of the testkit which knows the level, or one that asks. It goes by names
# alone, so that it prints a few tests too many, and none too few.
{ # without comments and what stands in quotation marks, of which ` holds over lines
	code = ""
	while (match($0, raw ? "`" : "\"([^\"\\\\]|\\\\.)*\"|'[^\\\\]'|`|//.*")) {
		if (!raw) code = code substr($0, 1, RSTART - 1) "_"
		if (substr($0, RSTART, 1) == "`") raw = !raw
		$0 = substr($0, RSTART + RLENGTH)
	}
	$0 = code (raw ? "" : $0)
}
FNR == 1 { group = 0; name = "" }
/^(func|var|const|type) / { group = /\($/ && !/^func/ }
/^(func|var|const|type) / || group && /^\t[A-Za-z_]/ {
	name = $0
	dot = sub(/^func \([^)]*\) */, "", name) ? "." : ""
	sub(/^(func|var|const|type|\t)[ \t]*/, "", name)
	sub(/[^A-Za-z0-9_].*/, "", name)
	name = dot name
}
{ text[name] = text[name] "\n" $0 }
END {
	for (name in text) if (name ~ /^\.?[A-Za-z]/ && text[name] ~ /(^|[^A-Za-z0-9_])(effort|nodetest)\./) fresh[name] = 1
	do {
		methods = functions = "@"
		for (name in fresh) { asks[name] = 1; if (name ~ /^\./) methods = methods "|" substr(name, 2); else functions = functions "|" name }
		split("", fresh)
		uses = "[^A-Za-z0-9_.](" functions ")([^A-Za-z0-9_]|$)|\\.(" methods ")([^A-Za-z0-9_]|$)"
		found = 0
		for (name in text) if (name ~ /^\.?[A-Za-z]/ && !(name in asks) && text[name] ~ uses) found = fresh[name] = 1
	} while (found)
	for (name in asks) if (name ~ /^(Test|Fuzz)/) print name
}
