package redact

import (
	"encoding/json"
	"path"
	"strings"
)

// File reports whether a file usually contains secrets, by its name or by its folder dir (empty, or
// ending in a slash): environment files, keys, and password stores. Example files do not count.
func File(dir, name string) bool {
	if name == "" {
		return false
	}
	name = strings.ToLower(name)
	if name[0] == '.' || name[0] == '_' {
		switch name {
		case ".env", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".my.cnf", ".htpasswd", ".vault-token",
			".dockercfg", ".dockerconfigjson", ".s3cfg", ".boto", ".terraformrc":
			return true
		}
		if kind, ok := strings.CutPrefix(name, ".env."); ok {
			return !example(kind)
		}
	}
	switch name {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "credentials.json", "kubeconfig", "terraform.rc", "pgpass.conf",
		"secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml", "serviceaccountkey.json":
		return true
	case "config", "config.json", "credentials", "credentials.toml", "settings.xml", "hosts.yml":
		return inFolder(strings.ToLower(dir), name)
	}
	stem, ending := name, ""
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		stem, ending = name[:dot], name[dot+1:]
	}
	switch ending {
	case "env", "pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "tfvars", "tfstate", "kubeconfig":
		return !example(stem)
	case "json":
		return strings.HasPrefix(stem, "client_secret") || strings.HasSuffix(stem, "service-account") || strings.HasSuffix(stem, "service_account") ||
			strings.HasSuffix(stem, ".tfvars") || strings.HasPrefix(stem, "service-account")
	case "backup":
		return strings.HasSuffix(stem, ".tfstate")
	}
	return false
}

func example(kind string) bool {
	for _, word := range []string{"example", "sample", "template", "dist", "defaults"} {
		if kind == word || strings.HasSuffix(kind, "."+word) || strings.HasSuffix(kind, "-"+word) || strings.HasPrefix(kind, word+".") {
			return true
		}
	}
	return false
}

// inFolder recognizes secret files by their folder.
func inFolder(dir, name string) bool {
	switch path.Base(strings.TrimSuffix(dir, "/")) + "/" + name {
	case ".kube/config", ".docker/config.json", ".aws/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
		".m2/settings.xml", ".oci/config", "gh/hosts.yml":
		return true
	}
	return false
}

// In returns the secrets in such a file: values with secret names, passwords in .netrc and .pgpass,
// and the single lines of private keys, which would otherwise look like ordinary text.
func In(name, text string) (values []string) {
	add := func(name, value string) {
		value = strings.Trim(strings.TrimSpace(value), "\"'`,;")
		if v := InVariable(name, value); v != "" && !template(v) {
			values = append(values, v)
		}
	}
	base := strings.ToLower(path.Base(name))
	key := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "-----BEGIN "):
			key = strings.Contains(line, "PRIVATE KEY")
		case strings.HasPrefix(line, "-----END "):
			key = false
		case key && len(line) >= minBody:
			values = append(values, line)
		case base == ".pgpass" || base == "pgpass.conf":
			if f := strings.Split(line, ":"); len(f) == 5 {
				add("PASSWORD", f[4])
			}
		case strings.HasSuffix(base, "netrc"):
			words := strings.Fields(line)
			for n, w := range words[:max(len(words)-1, 0)] {
				if w == "password" {
					add("PASSWORD", words[n+1])
				}
			}
		case strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") && !strings.Contains(line, "_auth"):
		default:
			if at := strings.IndexAny(line, "=:"); at > 0 {
				label := strings.Trim(strings.TrimPrefix(strings.TrimSpace(line[:at]), "export "), "\"' ")
				if strings.HasPrefix(line, "//") { // //host/:_authToken=
					at = strings.LastIndexByte(line, '=')
					label = "TOKEN"
				}
				add(label, line[at+1:])
			}
		}
	}
	return append(values, members(text)...)
}

func members(text string) (values []string) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil
	}
	var any map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &any) != nil {
		return nil
	}
	for name, raw := range any {
		var value string
		switch {
		case json.Unmarshal(raw, &value) == nil:
			for line := range strings.Lines(value) { // a key with several lines
				if v := InVariable(name, strings.TrimSpace(line)); v != "" && !strings.HasPrefix(v, "-----") {
					values = append(values, v)
				}
			}
		default:
			values = append(values, members(string(raw))...)
		}
	}
	return values
}
