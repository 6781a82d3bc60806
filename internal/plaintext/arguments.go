package plaintext

import (
	"net/url"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

// argumentName matches the name of an argument whose value is a secret: a flag, a variable or a header.
var argumentName = pattern.Of(
	`(?i)KEY|TOKEN|SECRET|PASSW|PASSPHRASE|PWD|CREDENTIAL|AUTH([^O]|ORIZ|$)|BEARER|COOKIE|^-*PAT$`,
)

// harmless matches a value that is no secret, whatever its name is.
var harmless = pattern.Of(`(?i)^(\d{1,7}|true|false|yes|no|on|off)?$`)

// Telling reports whether arguments contain a secret, judged by shape or by name: "--token=…", "--api-key …",
// "PASSWORD=…", "Authorization: …", or a URL with more than a host and a path.
func Telling(args []string) bool {
	named := false
	for _, word := range strings.Fields(strings.Join(args, " ")) {
		word = strings.Trim(word, `"'`)
		name, value, assigned := cutName(word)
		switch {
		case TellingURL(word), assigned && TellingURL(strings.Trim(value, `"'`)), cleanShapes(word) != word:
			return true
		case assigned && argumentName().MatchString(name) && !harmless().MatchString(value):
			return true
		case named && !strings.HasPrefix(word, "-") && !harmless().MatchString(word):
			return true
		}
		named = argumentName().MatchString(name) && (strings.HasPrefix(name, "-") || assigned) && value == ""
	}
	return false
}

// cutName splits a word at its first "=" or ":".
func cutName(word string) (name, value string, ok bool) {
	if i := strings.IndexAny(word, "=:"); i >= 0 {
		return word[:i], word[i+1:], true
	}
	return word, "", false
}

// TellingURL reports whether a text is a URL that may contain a secret. Such a URL has a user, a query or a fragment,
// or a part with the shape of a secret.
func TellingURL(text string) bool {
	if !strings.Contains(text, "://") {
		return false
	}
	u, err := url.Parse(text)
	return err != nil || u.User != nil || strings.ContainsAny(text, "?#@") || cleanShapes(text) != text
}
