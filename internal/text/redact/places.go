package redact

import "strings"

// places returns the kinds recognized by their context: in a URL, in a header, after a password's
// name, between the lines of a private key.
func places() []kind {
	out := []kind{
		{prefix: "://", match: address}, {prefix: "?", match: parameter}, {prefix: "&", match: parameter},
		{prefix: "-----BEGIN ", match: privateKey}, {prefix: "eyJ", rest: urlSafe, match: webToken}, {prefix: "~", match: azure},
		{prefix: "authorization", fold: true, match: authorization},
	}
	for _, start := range []string{
		"hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/", "outlook.office.com/webhook/",
		"api.telegram.org/bot", "hooks.zapier.com/hooks/catch/", "open.feishu.cn/open-apis/bot/", "open.larksuite.com/open-apis/bot/", "hook.eu1.make.com/",
	} {
		out = append(out, kind{prefix: start, match: behind(start)})
	}
	for _, name := range []string{
		"api-key", "api_key", "apikey", "access_key", "accesskey", "secret_access_key", "secret_key", "secretkey", "client_secret", "clientsecret",
		"access_token", "accesstoken", "refresh_token", "auth_token", "authtoken", "_authtoken", "session_token", "security-token", "private-token", "private_token",
		"auth-token", "vault-token", "token", "secret", "password", "passwd", "pwd", "accountkey", "sharedaccesskey", "aws_secret_access_key", "aws_session_token",
	} {
		out = append(out, kind{prefix: name, fold: true, match: named(name)})
	}
	for c := byte('A'); c <= 'Z'; c++ {
		out = append(out, kind{prefix: string(c), rest: func(c byte) bool { return upperNum(c) || c == '_' }, match: variable})
	}
	return out
}

// ends reports characters that end a URL or value in any text.
func ends(c byte) bool { return c <= ' ' || strings.IndexByte("\"'`<>\\", c) >= 0 }

// template reports whether v is only a placeholder: $TOKEN, {token}, <token>, %s, ***.
func template(v string) bool {
	return v == "" || strings.IndexByte("$<{%*[(", v[0]) >= 0 || strings.Trim(v, "xX.") == "" || strings.EqualFold(v, "password")
}

// maxAddress bounds the length of a URL, value or token.
const maxAddress = 4096

// address finds the password in scheme://user:password@host, or a token in place of the user.
func address(s string, i int) (Span, bool) {
	end := authorityEnd(s, i+3)
	return password(s, i), end == len(s) && end-i < maxAddress
}

func authorityEnd(s string, from int) int {
	return run(s, from, func(c byte) bool { return !ends(c) && strings.IndexByte("/?#", c) < 0 })
}

// password returns the password in the URL whose "://" is at i, or an empty span.
func password(s string, i int) Span {
	from := i + 3
	authority := s[from:authorityEnd(s, from)]
	at := strings.LastIndexByte(authority, '@')
	if at <= 0 {
		return Span{}
	}
	user := authority[:at]
	if colon := strings.IndexByte(user, ':'); colon >= 0 {
		if template(user[colon+1:]) {
			return Span{}
		}
		return Span{from + colon + 1, from + at}
	}
	if len(user) >= 20 && count(user, isDigit) >= 3 {
		return Span{from, from + at}
	}
	return Span{}
}

func parameter(s string, i int) (Span, bool) {
	from := i + 1
	if strings.HasPrefix(s[from:], "amp;") {
		from += 4
	}
	eq := run(s, from, dotted)
	if eq == len(s) {
		return Span{}, eq-from < 40
	}
	if s[eq] != '=' || !secretParameter(strings.ToLower(s[from:eq])) {
		return Span{}, false
	}
	end := run(s, eq+1, func(c byte) bool { return !ends(c) && strings.IndexByte("&#;)]}", c) < 0 })
	open := end == len(s) && end-eq < maxAddress
	if v := s[eq+1 : end]; len(v) < 6 || template(v) || v[0] == '=' { // == is a comparison in code
		return Span{}, open
	}
	return Span{eq + 1, end}, open
}

func secretParameter(name string) bool {
	switch name {
	case "key", "api_key", "api-key", "apikey", "auth", "token", "signature", "sig", "secret", "password", "passwd", "pwd", "access_key", "x-amz-credential":
		return true
	}
	for _, end := range []string{"token", "secret", "signature", "password", "apikey", "api_key", "api-key"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// authorization finds the credentials after the scheme in a header.
func authorization(s string, i int) (Span, bool) {
	at, open := separator(s, i+len("authorization"))
	if at < 0 {
		return Span{}, open
	}
	space := run(s, at, isLetter)
	if space == len(s) {
		return Span{}, space-at <= len("bearer")
	}
	switch strings.ToLower(s[at:space]) {
	case "bearer", "basic", "token", "bot", "apikey":
	default:
		return Span{}, false
	}
	from := run(s, space, isBlank)
	end := run(s, from, func(c byte) bool { return !ends(c) && c != ',' && c != ';' })
	open = end == len(s) && end-i < maxAddress
	if v := s[from:end]; from == space || len(v) < 6 || template(v) {
		return Span{}, open
	}
	return Span{from, end}, open
}

func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }

// separator returns where a value begins after a name: after an optional quote, blanks, : or =,
// blanks and a quote. Negative means no value. Quotes may be escaped.
func separator(s string, i int) (at int, open bool) {
	at = run(s, i, func(c byte) bool { return isBlank(c) || c == '"' || c == '\'' || c == '\\' })
	from := at
	at = run(s, at, func(c byte) bool { return c == ':' || c == '=' || c == '>' })
	if at == len(s) {
		return -1, at-i < 16
	}
	if at == from || at-i > 16 {
		return -1, false
	}
	from = at
	at = run(s, at, func(c byte) bool { return isBlank(c) || c == '"' || c == '\'' || c == '\\' || c == '`' })
	if at-from > 16 {
		return -1, false
	}
	return at, at == len(s)
}

// named returns the match for a value after a name.
func named(name string) match {
	return func(s string, i int) (Span, bool) {
		end := i + len(name)
		if end < len(s) && word(s[end]) {
			return Span{}, false
		}
		if isPassword(name) {
			if found := chosen(s, i, end); found != (Span{}) {
				return found, found.End == len(s)
			}
		}
		return given(s, i, end, strings.Contains(name, "-")) // a header
	}
}

// camel returns the match for a value after a name that ends a word, as in dbPassword. Such names
// are frequent in code, so outside configuration lines only quoted values count.
func camel(name string) match {
	return func(s string, i int) (Span, bool) {
		end := i + len(name)
		if end < len(s) && word(s[end]) || i == 0 || !isLower(s[i-1]) {
			return Span{}, false
		}
		if found := chosen(s, i, end); found != (Span{}) && isPassword(name) {
			return found, found.End == len(s)
		}
		found, open := given(s, i, end, false)
		if found.Start > 0 && s[found.Start-1] != '"' && s[found.Start-1] != '\'' {
			return Span{}, open
		}
		return found, open
	}
}

// isPassword reports names for passwords chosen by people, which look less random than generated
// ones.
func isPassword(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"password", "passwd", "passphrase", "pwd", "secret"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// chosen finds a password in a configuration line whose name ends at end: its value is the whole
// rest, quoted or not. In code the line contains more, or the value is an identifier.
func chosen(s string, i, end int) Span {
	start := strings.LastIndexByte(s[:i], '\n') + 1
	if strings.Trim(s[start:i], " \t-.\"'_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return Span{}
	}
	at := run(s, end, func(c byte) bool { return c == '"' || c == '\'' || isBlank(c) })
	if at == len(s) || s[at] != ':' && s[at] != '=' {
		return Span{}
	}
	spaced := isBlank(s[at-1]) && s[at] == '='
	at = run(s, at+1, isBlank)
	line := at + len(strings.TrimRight(s[at:run(s, at, func(c byte) bool { return c != '\n' })], " \t\r,"))
	if comment := strings.Index(s[at:line], " #"); comment > 0 {
		line = at + len(strings.TrimRight(s[at:at+comment], " \t"))
	}
	quoted := line-at >= 2 && (s[at] == '"' || s[at] == '\'') && s[line-1] == s[at]
	if quoted {
		at, line = at+1, line-1
	}
	v := s[at:line]
	if len(v) < 6 || len(v) > 200 || template(v) || strings.ContainsAny(v, " \t\"'`\\(){}[]") || strings.Contains(v, "://") || strings.IndexByte("/~.#>|&!", v[0]) >= 0 {
		return Span{}
	}
	digits, other := count(v, isDigit), len(v)-count(v, word)-strings.Count(v, "-")-strings.Count(v, ".")
	switch {
	case strings.Trim(v, "0123456789.,:-") == "": // a number or a time
		return Span{}
	case other > 0 && (digits > 0 || count(v, isUpper) > 0) && !strings.ContainsAny(v, "<>,;:|") && (quoted || !strings.ContainsAny(v, "=&|*+")):
	case !quoted && (spaced || strings.ContainsAny(v, ".") || typeName(v)):
		return Span{}
	case digits == 0 || len(v)-digits-strings.Count(v, "-")-strings.Count(v, "_") == 0 || strings.ContainsAny(v, "/:;,<>"):
		return Span{}
	case (quoted || count(v, isUpper) == 0) && strings.ContainsAny(v, "-_."): // an id or a test's name
		return Span{}
	}
	return Span{at, line}
}

// typeName reports names of types and formats that end in digits.
func typeName(v string) bool {
	stem := strings.TrimRight(strings.ToLower(v), "0123456789")
	switch stem {
	case "int", "uint", "float", "string", "varchar", "char", "base", "sha", "utf", "argon", "bytes", "complex":
		return true
	}
	return false
}

func variable(s string, i int) (Span, bool) {
	end := run(s, i, func(c byte) bool { return upperNum(c) || c == '_' })
	if end == len(s) {
		return Span{}, end-i < 80
	}
	// PASS: and KEYS: are words in reports.
	if end-i < 5 || end-i > 80 || word(s[end]) || !Name(s[i:end]) {
		return Span{}, false
	}
	return given(s, i, end, false)
}

// given finds a value after a name that ends at end. A name alone is weak evidence, so the value
// must look like a secret, less so in a header.
func given(s string, i, end int, header bool) (Span, bool) {
	at, open := separator(s, end)
	if at < 0 {
		return Span{}, open
	}
	stop := run(s, at, func(c byte) bool { return !ends(c) && strings.IndexByte(",;&|()[]{}", c) < 0 })
	open = stop == len(s) && stop-i < maxAddress
	v := s[at:stop]
	if strings.Contains(v, "://") { // address handles its password
		return Span{}, false
	}
	between := i > 0 && s[i-1] == ';' || stop < len(s) && s[stop] == ';' && s[end] == '=' // inside a connection string
	if !header && stop < len(s) && s[stop] == '(' && !isUpper(s[i]) && isCall(v) {
		return Span{}, false
	}
	if template(v) || !random(v) && !((between || header && count(v, isDigit) > 0) && len(v) >= 6 && !isLetterOnly(v)) {
		return Span{}, open
	}
	return Span{at, stop}, open
}

// isCall reports function calls in code: base64.StdEncoding.EncodeToString.
func isCall(v string) bool {
	return v != "" && !isDigit(v[0]) && run(v, 0, func(c byte) bool { return word(c) || c == '.' }) == len(v)
}

func isLetterOnly(v string) bool {
	return run(v, 0, func(c byte) bool { return isLetter(c) || c == '.' || c == '_' }) == len(v)
}

// random reports whether v looks generated: letters in both cases with digits, many digits between
// letters, or a long hexadecimal number.
func random(v string) bool {
	digits, uppers, lowers := count(v, isDigit), count(v, isUpper), count(v, isLower)
	switch {
	case strings.ContainsAny(v, " \t") || run(v, 0, func(c byte) bool { return padded(c) || strings.IndexByte(".~!@#$%^*:?", c) >= 0 }) < len(v):
		return false
	case len(v) >= 12 && digits >= 2 && uppers >= 1 && lowers >= 1:
		return true
	case len(v) >= 32 && count(v, hexDigit) == len(v):
		return digits > 0
	}
	return len(v) >= 20 && digits >= 4 && uppers+lowers >= 4
}

// behind returns the match for a URL that is secret from some offset on.
func behind(start string) match {
	return func(s string, i int) (Span, bool) {
		from := i + len(start)
		end := run(s, from, func(c byte) bool { return !ends(c) && strings.IndexByte(",;)]}?#", c) < 0 })
		open := end == len(s) && end-from < maxAddress
		if end-from < 16 || count(s[from:end], isDigit) == 0 || template(s[from:end]) {
			return Span{}, open
		}
		return Span{from, end}, open
	}
}

// webToken matches a JSON web token: header, claims and signature, or five encrypted parts.
func webToken(s string, i int) (Span, bool) {
	at := i
	for n := 0; ; n++ {
		end := run(s, at, urlSafe)
		switch {
		case end == len(s):
			if n >= 2 && end-at >= 10 {
				return Span{i, end}, true
			}
			return Span{}, end-i < 64<<10
		case end-at < 10 && n < 3 || n == 1 && !strings.HasPrefix(s[at:], "eyJ") && s[end] != '.':
			return Span{}, false
		case n >= 2 && (s[end] != '.' || n == 4 || end+1 == len(s) || !urlSafe(s[end+1])):
			return Span{i, end}, end+1 == len(s)
		case s[end] != '.':
			return Span{}, false
		}
		at = end + 1
	}
}

// azure matches an Entra client secret: three letters, a digit, Q~ and 31 to 34 more. Matching
// starts at the "~", so the mark begins there: the letters before it may already be passed on.
func azure(s string, i int) (Span, bool) {
	if i < 5 || s[i-1] != 'Q' || !isDigit(s[i-2]) {
		return Span{}, false
	}
	end := run(s, i+1, func(c byte) bool { return dotted(c) || c == '~' })
	if n := end - i - 1; n < 31 || n > 36 {
		return Span{}, end == len(s) && n <= 36
	}
	return Span{i, end}, end == len(s)
}
