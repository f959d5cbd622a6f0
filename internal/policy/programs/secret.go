package programs

import (
	"path"
	"slices"
	"strings"
)

// SecretNames are patterns for names of secret files. They are wider than those that require a
// question, because a search omits the example beside a secret, too. Names known only by their
// folder are not included.
func SecretNames() []string {
	return strings.Fields(".env .env.* *.env .netrc _netrc .pgpass .npmrc .pypirc .git-credentials .my.cnf .htpasswd .vault-token .dockercfg " +
		".dockerconfigjson .s3cfg .boto .terraformrc id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk credentials.json kubeconfig " +
		"terraform.rc pgpass.conf secrets.json secrets.yml secrets.yaml secrets.toml serviceaccountkey.json *.pem *.key *.p12 *.pfx *.jks " +
		"*.keystore *.kdbx *.ppk *.tfvars *.tfstate *.kubeconfig client_secret*.json *service-account.json *service_account.json *.tfvars.json " +
		"service-account*.json *.tfstate.backup")
}

// secretPlaces are those known by their folder.
func secretPlaces() []string {
	return strings.Fields(".kube/config .docker/config.json .aws/credentials .cargo/credentials .cargo/credentials.toml .gem/credentials " +
		".m2/settings.xml .oci/config gh/hosts.yml")
}

// LeftOut reports whether leaveOut excludes a name from searches.
func LeftOut(name string) bool {
	return slices.ContainsFunc(SecretNames(), func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// leaveOut returns the options that exclude such files from a tree search.
func leaveOut(program string) (options []string) {
	for _, name := range SecretNames() {
		switch program {
		case "grep":
			options = append(options, "--exclude="+name)
		case "rg":
			options = append(options, "--iglob=!"+name)
		}
	}
	if program == "rg" {
		options = append(options, "--no-config")
	}
	return options
}

// withoutSecrets returns pathspecs that exclude such files in git.
func withoutSecrets() (specs []string) {
	for _, name := range slices.Concat(SecretNames(), secretPlaces()) {
		specs = append(specs, ":(top,exclude,icase,glob)**/"+name)
	}
	return specs
}
