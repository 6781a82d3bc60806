package plaintext

import (
	"net/url"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

// minSecret is the minimum length of a value to treat as a secret, in bytes. Shorter values are ordinary words that
// would be removed everywhere.
const minSecret = 8

var (
	// secretName matches the names of variables whose values are secrets.
	secretName = pattern.Of(`(?i)KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE` +
		`|(?:^|_)(?:PAT|PASS)(?:_|$)|_PWD$`)
	// headersName matches the names of variables that contain request headers.
	headersName = pattern.Of(`(?i)HEADERS?$`)
	// knownName matches the names of variables whose long values are no secrets: identifiers, revisions and hosts.
	knownName = pattern.Of(`(?i)^(?:PATH|HOST(?:NAME)?|LS_COLORS|TERM.*|CLICHAIN_.*)$` +
		`|_(?:ID|SHA\d*|HASH|DIGEST|COMMIT|REVISION|VERSION)$`)
	// authScheme matches the word before the credential in the value of a header.
	authScheme = pattern.Of(`(?i)^(?:Bearer|Basic|Token|Digest)\s+`)
	// knownHeaders and knownParameters have values that are no secrets.
	knownHeaders    = []string{"accept", "anthropic-beta", "anthropic-version", "content-type", "host", "user-agent"}
	knownParameters = []string{
		"alt", "api-version", "deployment", "format", "location", "model", "project", "region", "version",
	}
)

// secretsOf returns the secret parts of a variable's value. It returns the whole value if the name indicates a secret.
// Otherwise it returns the values of headers, the user and the query of a URL, and words that look random.
func secretsOf(name, value string) (list []string) {
	add := func(secrets ...string) {
		for _, secret := range secrets {
			if len(secret) >= minSecret {
				list = append(list, secret)
			}
		}
	}
	if secretName().MatchString(name) {
		add(value, strings.TrimSpace(value), credential(value))
	}
	if headersName().MatchString(name) {
		add(headerValues(value)...)
	}
	if !knownName().MatchString(name) {
		add(urlSecrets(value)...)
		add(randomWords(value, longRandom)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// credential returns the value of a header without the name of its scheme.
func credential(value string) string {
	value = strings.TrimSpace(value)
	return value[len(authScheme().FindString(value)):]
}

// headerValues returns the values of headers, which are written one on each line ("Name: value") or as a list
// ("a=b,c=d").
func headerValues(text string) (values []string) {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ":")
		if ok && !strings.Contains(name, "=") {
			values = append(values, headerValue(name, value)...)
			continue
		}
		for pair := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(pair, "=")
			values = append(values, headerValue(name, value)...)
		}
	}
	return values
}

// headerValue returns the value of a header as written and as decoded.
func headerValue(name, value string) []string {
	if slices.Contains(knownHeaders, strings.ToLower(strings.TrimSpace(name))) {
		return nil
	}
	meant, err := url.QueryUnescape(value)
	if err != nil {
		meant = value
	}
	return []string{strings.TrimSpace(value), credential(value), credential(meant)}
}

// urlSecrets returns the logins of the URLs in a text, the values of their parameters, and random parts of their paths.
func urlSecrets(text string) (secrets []string) {
	for word := range strings.FieldsSeq(text) {
		_, rest, ok := strings.Cut(word, "://")
		if !ok {
			continue
		}
		host, query := rest, ""
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			host, query = rest[:i], rest[i+1:]
		}
		host, path, _ := strings.Cut(host, "/")
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			_, password, _ := strings.Cut(host[:i], ":")
			secrets = append(secrets, host[:i], password, unescaped(password))
		}
		for segment := range strings.SplitSeq(path, "/") {
			secrets = append(secrets, randomWords(segment, longRandom)...)
		}
		secrets = append(secrets, parameters(query)...)
	}
	return secrets
}

// parameters returns the values of a query or a fragment.
func parameters(query string) (values []string) {
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return strings.ContainsRune("&;#", r) }) {
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			value = name
		case slices.Contains(knownParameters, strings.ToLower(name)):
			continue
		}
		values = append(values, value, unescaped(value))
	}
	return values
}

// unescaped returns a decoded part of a URL, or the part itself if its escapes are invalid.
func unescaped(part string) string {
	if meant, err := url.PathUnescape(part); err == nil {
		return meant
	}
	return part
}

// longRandom is the minimum length of a word that counts as a secret because it looks random. randomPiece is the length
// of a piece of a known random secret.
const (
	longRandom  = 20
	randomPiece = 16
)

// inRandom contains the bytes of keys and tokens.
var inRandom = setOf(letters + "+/_-.~")

// randomWords returns the words of a text that look random and have at least the given length. It ignores paths.
func randomWords(text string, least int) (words []string) {
	for from := 0; from < len(text); from++ {
		to := inRandom.run(text, from)
		word := text[from:to]
		if len(word) >= least && strings.IndexByte("/.~", word[0]) < 0 && random(word) {
			words = append(words, word)
		}
		from = to
	}
	return words
}

// random reports whether a word changes between letters and digits, or from lower to upper case, as often as keys do.
// Names of models, hosts and versions change only at the ends of their words.
func random(word string) bool {
	if uuidShape().MatchString(word) {
		return false // the id of a session or a run
	}
	pairs, digits, changes := 0, 0, 0
	for i := 1; i < len(word); i++ {
		before, c := kindOf(word[i-1]), kindOf(word[i])
		if before == other || c == other {
			continue
		}
		pairs++
		if (before == digit) != (c == digit) {
			digits++
		}
		if before != c && (before == digit || c != small) {
			changes++
		}
	}
	return digits >= 3 && changes >= 4 && 5*changes >= pairs
}

var uuidShape = pattern.Of(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// kind is the class of a byte in a word.
type kind int

const (
	other kind = iota
	digit
	small
	capital
)

func kindOf(c byte) kind {
	switch {
	case c >= '0' && c <= '9':
		return digit
	case c >= 'a' && c <= 'z':
		return small
	case c >= 'A' && c <= 'Z':
		return capital
	}
	return other
}
