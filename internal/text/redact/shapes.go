package redact

import (
	"strings"
	"sync"
)

// kinds indexes the table by first byte.
var kinds = sync.OnceValue(func() *[256][]kind {
	var table [256][]kind
	add := func(k kind) {
		first := k.prefix[0]
		table[first] = append(table[first], k)
		if k.fold && first >= 'a' && first <= 'z' {
			table[first-'a'+'A'] = append(table[first-'a'+'A'], k)
		}
	}
	for _, k := range published {
		add(kind{prefix: k.prefix, rest: k.class, match: k.match})
	}
	for _, k := range places() {
		add(k)
	}
	add(kind{prefix: "EAAA", rest: urlSafe, match: square})
	for c := byte('0'); c <= '9'; c++ {
		add(kind{prefix: string(c), rest: isDigit, match: telegram})
	}
	for _, c := range []string{"M", "N", "O"} {
		add(kind{prefix: c, rest: urlSafe, match: discord})
	}
	return &table
})

// innerKinds are the kinds that begin within a word: db_password, dbPassword.
var innerKinds = sync.OnceValue(func() *[256][]kind {
	var table [256][]kind
	for _, name := range []string{"password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "access_key", "secret_key", "private_key"} {
		table['_'] = append(table['_'], kind{prefix: "_" + name, fold: true, match: named("_" + name)})
	}
	for _, name := range []string{"Password", "Passwd", "Passphrase", "Secret", "Token", "ApiKey", "APIKey", "AccessKey", "SecretKey", "PrivateKey"} {
		table[name[0]] = append(table[name[0]], kind{prefix: name, match: camel(name)})
	}
	return &table
})

// shape is a published key format: a prefix, then letters from a class. Longer runs are other data.
type shape struct {
	prefix   string
	class    func(byte) bool
	min, max int // letters after the prefix
	digits   int // minimum digits, to distinguish a key from a name with several words
}

func (k shape) match(s string, i int) (Span, bool) {
	from := i + len(k.prefix)
	end := run(s, from, k.class)
	open := end == len(s) && end-from <= k.max
	for end > from && (s[end-1] == '.' || s[end-1] == '-') { // end of a sentence
		end--
	}
	if n := end - from; n < k.min || n > k.max || count(s[from:end], isDigit) < k.digits || end < len(s) && word(s[end]) {
		return Span{}, open
	}
	return Span{i, end}, open
}

func count(s string, class func(byte) bool) (n int) {
	for i := range len(s) {
		if class(s[i]) {
			n++
		}
	}
	return n
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func alnum(c byte) bool    { return isDigit(c) || isUpper(c) || isLower(c) }
func upperNum(c byte) bool { return isDigit(c) || isUpper(c) }
func lowerNum(c byte) bool { return isDigit(c) || isLower(c) }
func urlSafe(c byte) bool  { return alnum(c) || c == '_' || c == '-' }
func dotted(c byte) bool   { return urlSafe(c) || c == '.' }
func padded(c byte) bool   { return alnum(c) || c == '_' || c == '-' || c == '=' || c == '+' || c == '/' }

// published are key prefixes from their issuers' documentation. The most specific comes first if
// one is a prefix of another.
var published = []shape{
	// Models.
	{"sk-ant-", urlSafe, 12, 300, 0}, {"sk-proj-", urlSafe, 16, 300, 0}, {"sk-svcacct-", urlSafe, 16, 300, 0},
	{"sk-admin-", urlSafe, 16, 300, 0}, {"sk-or-v1-", urlSafe, 16, 300, 0}, {"sk-lf-", urlSafe, 20, 100, 2},
	{"sk-", urlSafe, 16, 300, 3}, // OpenAI's older keys, DeepSeek, Moonshot and many others
	{"gsk_", alnum, 20, 200, 0}, {"xai-", alnum, 20, 200, 0}, {"csk-", alnum, 20, 200, 0}, {"pplx-", alnum, 20, 200, 0},
	{"nvapi-", urlSafe, 20, 200, 0}, {"tgp_v1_", urlSafe, 20, 200, 0}, {"fw_", alnum, 20, 100, 2}, {"r8_", alnum, 30, 100, 0},
	{"hf_", alnum, 20, 200, 0}, {"api_org_", alnum, 30, 100, 0}, {"lsv2_pt_", urlSafe, 20, 200, 0}, {"lsv2_sk_", urlSafe, 20, 200, 0},
	{"AIza", urlSafe, 30, 60, 0}, {"AQ.A", urlSafe, 30, 200, 0}, {"ya29.", dotted, 20, 2000, 0}, {"GOCSPX-", urlSafe, 20, 60, 0},
	// Clouds and infrastructure.
	{"AKIA", upperNum, 16, 16, 0}, {"ASIA", upperNum, 16, 16, 0},
	{"ABSK", padded, 40, 300, 0}, {"dapi", hexDigit, 32, 32, 0},
	{"dop_v1_", hexDigit, 40, 100, 0}, {"doo_v1_", hexDigit, 40, 100, 0}, {"dor_v1_", hexDigit, 40, 100, 0},
	{"hvs.", urlSafe, 20, 300, 0}, {"hvb.", urlSafe, 20, 300, 0}, {"hvr.", urlSafe, 20, 300, 0}, {"tskey-", urlSafe, 16, 100, 2},
	{"pul-", hexDigit, 40, 40, 0}, {"fo1_", urlSafe, 30, 100, 0}, {"FlyV1 fm2_", padded, 40, 2000, 0}, {"ops_eyJ", padded, 60, 4000, 0},
	{"AGE-SECRET-KEY-1", upperNum, 50, 70, 0}, {"dckr_pat_", urlSafe, 20, 60, 0}, {"dckr_oat_", urlSafe, 20, 60, 0},
	{"dp.pt.", alnum, 30, 60, 0}, {"dp.st.", dotted, 30, 100, 0}, {"sbp_", hexDigit, 40, 60, 0}, {"sb_secret_", urlSafe, 20, 60, 0},
	{"pscale_tkn_", dotted, 20, 80, 0}, {"pscale_pw_", dotted, 20, 80, 0}, {"cfut_", urlSafe, 30, 100, 0},
	// Code and packages.
	{"ghp_", alnum, 30, 255, 0}, {"gho_", alnum, 30, 255, 0}, {"ghu_", alnum, 30, 255, 0}, {"ghs_", dotted, 30, 2000, 0},
	{"ghr_", alnum, 30, 255, 0}, {"github_pat_", padded, 30, 255, 0},
	{"glpat-", dotted, 18, 100, 0}, {"gldt-", urlSafe, 18, 100, 0}, {"glrt-", dotted, 18, 100, 0}, {"glptt-", hexDigit, 40, 40, 0},
	{"glcbt-", urlSafe, 18, 200, 0}, {"glft-", urlSafe, 18, 100, 0}, {"glsoat-", urlSafe, 18, 100, 0}, {"gloas-", hexDigit, 40, 80, 0},
	{"npm_", alnum, 30, 60, 0}, {"pypi-", urlSafe, 50, 400, 0}, {"rubygems_", hexDigit, 40, 60, 0}, {"cio", alnum, 32, 32, 4},
	{"oy2", lowerNum, 43, 43, 0}, {"ATATT3", padded, 60, 400, 0}, {"ATCTT3", padded, 60, 400, 0}, {"ATBB", alnum, 28, 60, 2},
	{"SK", hexDigit, 32, 32, 1}, // Twilio
	{"sntrys_", padded, 40, 600, 0}, {"sntryu_", hexDigit, 40, 80, 0}, {"NRAK-", upperNum, 20, 40, 0},
	{"glsa_", urlSafe, 30, 60, 0}, {"glc_", padded, 40, 600, 0}, {"PMAK-", urlSafe, 40, 80, 0}, {"lin_api_", alnum, 30, 60, 0},
	{"figd_", urlSafe, 30, 80, 0}, {"ntn_", alnum, 40, 60, 0}, {"secret_", alnum, 43, 43, 2}, {"phx_", alnum, 30, 60, 0},
	{"shpat_", hexDigit, 32, 32, 0}, {"shpca_", hexDigit, 32, 32, 0}, {"shppa_", hexDigit, 32, 32, 0}, {"shpss_", hexDigit, 32, 32, 0},
	// Messages and money.
	{"xoxb-", urlSafe, 10, 200, 0}, {"xoxp-", urlSafe, 10, 200, 0}, {"xoxa-", urlSafe, 10, 200, 0}, {"xoxr-", urlSafe, 10, 200, 0},
	{"xoxs-", urlSafe, 10, 200, 0}, {"xoxe-", urlSafe, 10, 300, 0}, {"xoxe.xoxp-", urlSafe, 10, 300, 0}, {"xoxd-", urlSafe, 10, 400, 0},
	{"xoxc-", urlSafe, 10, 200, 0}, {"xapp-", urlSafe, 10, 300, 0}, {"xwfp-", urlSafe, 10, 300, 0},
	{"SG.", dotted, 40, 100, 1}, {"xkeysib-", urlSafe, 60, 120, 0}, {"xsmtpsib-", urlSafe, 60, 120, 0},
	{"sk_live_", alnum, 16, 300, 0}, {"sk_test_", alnum, 16, 300, 0}, {"rk_live_", alnum, 16, 300, 0}, {"rk_test_", alnum, 16, 300, 0},
	{"whsec_", padded, 24, 200, 0}, {"sk_", hexDigit, 40, 80, 0}, // ElevenLabs
	{"sq0atp-", urlSafe, 20, 60, 0}, {"sq0csp-", urlSafe, 40, 60, 0}, {"access_token$production$", lowerNum, 40, 60, 0},
	{"sl.", urlSafe, 60, 1500, 2}, {"sl.u.", urlSafe, 60, 1500, 2},
}

// square matches a Square access token. Base64 data with zero bytes also begins with the prefix,
// but contains more zeros.
func square(s string, i int) (Span, bool) {
	found, open := shape{"EAAA", urlSafe, 56, 80, 2}.match(s, i)
	if strings.Contains(s[found.Start:found.End], "AAAA") {
		return Span{}, open
	}
	return found, open
}

// telegram matches a bot token: number, colon, 35 letters.
func telegram(s string, i int) (Span, bool) {
	colon := run(s, i, isDigit)
	if n := colon - i; n > 12 {
		return Span{}, false
	} else if colon == len(s) {
		return Span{}, true
	} else if n < 6 || s[colon] != ':' {
		return Span{}, false
	}
	end := run(s, colon+1, urlSafe)
	if n := end - colon - 1; n < 34 || n > 36 {
		return Span{}, end == len(s) && n <= 36
	}
	return Span{i, end}, end == len(s)
}

// discord matches a bot token: its number in base64, a time and a signature.
func discord(s string, i int) (Span, bool) {
	ends := [3]int{}
	at := i
	for n, size := range [3][2]int{{23, 30}, {6, 7}, {27, 45}} {
		end := run(s, at, urlSafe)
		short := end-at < size[0]
		switch {
		case end == len(s) && end-at <= size[1] && (n < 2 || short):
			return Span{}, true
		case short || end-at > size[1] || n < 2 && s[end] != '.':
			return Span{}, false
		}
		ends[n], at = end, end+1
	}
	if count(s[i:ends[0]], isDigit) == 0 || count(s[ends[1]:ends[2]], isDigit) == 0 {
		return Span{}, false
	}
	return Span{i, ends[2]}, ends[2] == len(s)
}
