package plaintext

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/internal/pattern"
)

// charset is a set of bytes.
type charset [256]bool

func setOf(chars string) (s charset) {
	for i := range len(chars) {
		s[chars[i]] = true
	}
	return s
}

func (s charset) not() charset {
	for i := range s {
		s[i] = !s[i]
	}
	return s
}

// letters contains the ASCII letters and the digits.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

var (
	inLetters = setOf(letters)
	inWord    = setOf(letters + "_")
	inKey     = setOf(letters + "_-")
	inToken   = setOf(letters + "._~+/=-")
	inBase64  = setOf(letters + "+/=_-")
	inSpace   = setOf(" \t\r\n\f\v")
	inQuery   = setOf("& \t\r\n\"'\\").not()
	inUser    = setOf("/:@ \t\r\n\"'").not()
	inPass    = setOf("/@ \t\r\n\"'").not()
	inScheme  = setOf(letters + "+.-")
	wordShape = pattern.Of(`^[A-Za-z]?[a-z]+$`)
	// queryNames lists the URL parameters that contain secrets.
	queryNames = []string{"key=", "api_key=", "token=", "access_token=", "sig=", "signature="}
)

// telling contains the bytes at which shapeAt recognizes a shape.
var telling = setOf("bBkK?&:.z_")

// cleanShapes replaces secrets of unknown value that are recognized by their shape.
func cleanShapes(text string) string {
	var out cut
	for i := range len(text) {
		if !telling[text[i]] || i < out.to {
			continue
		}
		if from, to := shapeAt(text, i); from < to {
			out.drop(text, from, to)
		}
	}
	return out.rest(text)
}

// shapeAt returns the range of the secret whose shape has its telling byte at i, an empty range if there is none.
func shapeAt(text string, i int) (from, to int) {
	switch text[i] {
	case 'b', 'B':
		return headerAt(text, i)
	case 'k', 'K':
		if from, to = apiKeyAt(text, i); from < to {
			return from, to
		}
		if i > 0 && strings.IndexByte("srp", text[i-1]) >= 0 && strings.HasPrefix(text[i:], "k-") {
			return keyAt(text, i-1, 3, &inKey, 16)
		}
	case '?', '&':
		for _, name := range queryNames {
			if strings.HasPrefix(text[i+1:], name) {
				return i + 1 + len(name), inQuery.run(text, i+1+len(name))
			}
		}
	case ':':
		return loginAt(text, i)
	case '.':
		return webTokenAt(text, i)
	case 'z':
		if i >= 2 && strings.HasPrefix(text[i-2:], "AIza") {
			return keyAt(text, i-2, 4, &inKey, 30)
		}
	case '_':
		if i >= 3 && text[i-3:i-1] == "gh" && strings.IndexByte("pousr", text[i-1]) >= 0 {
			return keyAt(text, i-3, 4, &inLetters, 20)
		}
	}
	return 0, 0
}

// run returns the end of the longest run of bytes of the set that starts at i.
func (s *charset) run(text string, i int) int {
	for i < len(text) && s[text[i]] {
		i++
	}
	return i
}

// wordStart reports whether a word may start at i. A letter there may belong to a JSON escape.
func wordStart(text string, i int) bool {
	return i == 0 || !inWord[text[i-1]] || i > 1 && text[i-2] == '\\' && strings.IndexByte("nrt", text[i-1]) >= 0
}

// keyAt returns the range of a key that starts at i and has at least least bytes of the set after its prefix.
func keyAt(text string, i, first int, set *charset, least int) (from, to int) {
	if to = set.run(text, i+first); wordStart(text, i) && to-i-first >= least {
		return i, to
	}
	return 0, 0
}

// foldPrefix reports whether text contains the word at i, in any case.
func foldPrefix(text string, i int, word string) bool {
	return i >= 0 && len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word)
}

// headerAt returns the range of the credential after "Bearer" or "Basic". The word after "basic" may be ordinary text.
func headerAt(text string, i int) (from, to int) {
	name, set := "bearer", &inToken
	if foldPrefix(text, i, "basic") {
		name, set = "basic", &inBase64
	} else if !foldPrefix(text, i, name) {
		return 0, 0
	}
	from = inSpace.run(text, i+len(name))
	to = set.run(text, from)
	if from == i+len(name) || to-from < minSecret || !wordStart(text, i) || name == "basic" && ordinary(text[from:to]) {
		return 0, 0
	}
	return from, to
}

// ordinary reports whether the text after "Basic" is an ordinary word and not the base64 text of a user and a password.
func ordinary(text string) bool {
	var user [32]byte
	if len(text) > len(user) || !wordShape().MatchString(text) {
		return false
	}
	n, err := base64.RawStdEncoding.Decode(user[:], []byte(text))
	return err != nil || bytes.IndexByte(user[:n], ':') < 0 || !utf8.Valid(user[:n])
}

// apiKeyAt returns the range of the value of an "api_key", as in a header, in JSON or in JSON within JSON. i is the
// offset of "key".
func apiKeyAt(text string, i int) (from, to int) {
	name := i
	if name > 0 && (text[name-1] == '_' || text[name-1] == '-') {
		name--
	}
	if name -= len("api"); !foldPrefix(text, i, "key") || !foldPrefix(text, name, "api") || !wordStart(text, name) {
		return 0, 0
	}
	at := inSpace.run(text, quote(text, i+len("key")))
	if at == len(text) || text[at] != ':' && text[at] != '=' {
		return 0, 0
	}
	from = quote(text, inSpace.run(text, at+1))
	if to = inToken.run(text, from); to-from < minSecret {
		return 0, 0
	}
	return from, to
}

// quote returns the offset after a quotation mark at i, i itself if there is none.
func quote(text string, i int) int {
	at := i
	for at < len(text) && text[at] == '\\' {
		at++
	}
	if at < len(text) && (text[at] == '"' || text[at] == '\'') {
		return at + 1
	}
	return i
}

// loginAt returns the range of the user and the password of a URL whose scheme ends at i.
func loginAt(text string, i int) (from, to int) {
	from = i + len("://")
	if i == 0 || !inScheme[text[i-1]] || !strings.HasPrefix(text[i:], "://") {
		return 0, 0
	}
	user := inUser.run(text, from)
	if user == from || user == len(text) || text[user] != ':' {
		return 0, 0
	}
	if to = inPass.run(text, user+1); to == user+1 || to == len(text) || text[to] != '@' {
		return 0, 0
	}
	return from, to
}

// webTokenAt returns the range of a JSON Web Token whose first part ends at i.
func webTokenAt(text string, i int) (from, to int) {
	const least = 10
	second := inKey.run(text, i+1)
	if second-i-1 < least || second == len(text) || text[second] != '.' {
		return 0, 0
	}
	start := i
	for start > 0 && inKey[text[start-1]] {
		start--
	}
	for from = start; from+len("eyJ")+least <= i; from++ {
		if strings.HasPrefix(text[from:], "eyJ") && wordStart(text, from) {
			return from, inKey.run(text, second+1)
		}
	}
	return 0, 0
}
