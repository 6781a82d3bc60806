package plaintext

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

const redaction = "[redacted]"

// minSecret is the length of the shortest value taken for a secret: shorter ones
// are ordinary words that would be removed everywhere.
const minSecret = 8

// secretName matches the name of a variable whose value is a secret.
var secretName = regexp.MustCompile(`(?i)KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE`)

// Redactor removes secrets from texts: the values of the CLI's variables whose names say that they are secret, in each
// form that programs print them in, and everything that looks like a key. It is safe for concurrent use. A nil Redactor
// knows no values.
type Redactor struct{ plain, escaped, spaced finder }

// NewRedactor returns a Redactor for the environment of a CLI ("NAME=value").
func NewRedactor(env []string) *Redactor {
	r := &Redactor{plain: finder{wrap: atBreaks}, escaped: finder{wrap: atEscapes}, spaced: finder{wrap: atSpaces}}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) < minSecret || !secretName.MatchString(name) {
			continue
		}
		trimmed := strings.TrimSpace(value)
		for _, form := range append(formsOf(value), formsOf(trimmed)...) {
			r.plain.add(form)
			r.escaped.add(form)
		}
		if strings.ContainsAny(trimmed, " \t") {
			r.spaced.add(trimmed)
		}
	}
	return r
}

// Clean returns text with each secret replaced by "[redacted]". It allocates only where it finds one.
func (r *Redactor) Clean(text string) string {
	if text == "" {
		return ""
	}
	if r != nil && len(r.plain.forms) > 0 {
		text = r.plain.cleanCut(r.plain.clean(text))
		escapes := strings.Contains(text, `\n`) || strings.Contains(text, `\r`)
		if escapes {
			text = r.escaped.clean(text)
		}
		if escapes || strings.ContainsAny(text, "\r\n") {
			text = r.spaced.clean(text)
		}
	}
	return cleanShapes(text)
}

// CleanJSON is Clean for a JSON value. It returns raw itself where there is nothing to clean, and the JSON string
// "[redacted]" where the rest would be no JSON.
func (r *Redactor) CleanJSON(raw []byte) []byte {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // not kept: Clean copies what it changes
	cleaned := r.Clean(text)
	switch {
	case cleaned == text:
		return raw
	case json.Valid([]byte(cleaned)):
		return []byte(cleaned)
	}
	return []byte(`"` + redaction + `"`)
}

// All cleans all texts in place.
func (r *Redactor) All(texts []string) {
	for i := range texts {
		texts[i] = r.Clean(texts[i])
	}
}

// formsOf returns the forms of a secret value that programs print it in, some of them more than once.
func formsOf(value string) []string {
	forms := []string{value}
	add := func(form string) { forms = append(forms, form) }
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		add(e.EncodeToString([]byte(value)))
		add(e.WithPadding(base64.NoPadding).EncodeToString([]byte(value)))
		for before := range 3 {
			add(insideBase64(e, value, before))
		}
	}
	query := url.QueryEscape(value)
	for _, escaped := range []string{query, url.PathEscape(value), likeScripts.Replace(query)} {
		add(escaped)
		add(percent.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	once := jsonEscapes(value)
	for _, escaped := range once {
		forms = append(append(forms, escaped), jsonEscapes(escaped)...) // JSON in a string of JSON
	}
	add(hex.EncodeToString([]byte(value)))
	add(strings.ToUpper(hex.EncodeToString([]byte(value))))
	return forms
}

var (
	percent = regexp.MustCompile(`%[0-9A-F]{2}`)
	// likeScripts turns a query escape into that of JavaScript's encodeURIComponent.
	likeScripts = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	unHTML      = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
)

// insideBase64 is what the base64 text of something longer, such as "user:value", has of a value: without the digits
// that depend on the bytes next to it. before is the number of bytes before it, modulo 3.
func insideBase64(e *base64.Encoding, value string, before int) string {
	text := e.WithPadding(base64.NoPadding).EncodeToString([]byte("\x00\x00"[:before] + value))
	if (before+len(value))%3 != 0 {
		text = text[:len(text)-1]
	}
	return text[min(len(text), [...]int{0, 2, 3}[before]):]
}

// jsonEscapes are the ways to write a text in a JSON string, without the quotes.
func jsonEscapes(text string) []string {
	quoted, _ := json.Marshal(text) // a string always marshals
	html := string(quoted[1 : len(quoted)-1])
	plain := unHTML.Replace(html)
	return []string{html, plain, strings.ReplaceAll(plain, "/", `\/`), asciiJSON(html), asciiJSON(plain)}
}

// asciiJSON escapes all characters beyond ASCII.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// wrap says where a secret may be broken by a line end; what stands there is passed over.
type wrap int

const (
	atBreaks  wrap = iota // line breaks, and the spaces after them
	atEscapes             // those, and the line breaks of a JSON string
	atSpaces              // those, and all spaces
)

// skip returns how many bytes at the start of text are passed over.
func (w wrap) skip(text string) (n int) {
	for n < len(text) {
		switch c := text[n]; {
		case c == '\n', c == '\r', (c == ' ' || c == '\t') && (n > 0 || w == atSpaces):
			n++
		case c == '\\' && w != atBreaks && escapedSpace(text[n:], n > 0) > 0:
			n += escapedSpace(text[n:], n > 0)
		default:
			return n
		}
	}
	return n
}

// escapedSpace is the length of the escaped line break that text begins with, or of a tab; a string in a string in
// a string has four backslashes before the letter.
func escapedSpace(text string, tab bool) int {
	for n := 1; n <= 4 && n < len(text); n++ {
		switch c := text[n]; {
		case c == 'n', c == 'r', c == 't' && tab:
			return n + 1
		case c != '\\':
			return 0
		}
	}
	return 0
}

// strip removes from a secret what is passed over in texts.
func (w wrap) strip(secret string) string {
	var b strings.Builder
	for i := 0; i < len(secret); i++ {
		if n := w.skip(secret[i:]); n > 0 {
			i += n - 1
			continue
		}
		b.WriteByte(secret[i])
	}
	return b.String()
}

// finder finds many secrets in one pass over a text, by their first eight bytes.
type finder struct {
	wrap  wrap
	forms map[uint64][]string // by their first eight bytes
	maybe [1 << 12]bool       // by the hash of those: most bytes of a text need no look at forms
}

// hashOf is an index of finder.maybe.
func hashOf(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> 52 }

func (f *finder) add(form string) {
	if form = f.wrap.strip(form); len(form) < minSecret {
		return
	}
	head := uint64(0)
	for i := range minSecret {
		head = head<<8 | uint64(form[i])
	}
	if f.forms == nil {
		f.forms = map[uint64][]string{}
	}
	f.forms[head] = append(f.forms[head], form[minSecret:])
	f.maybe[hashOf(head)] = true
}

// clean replaces the secrets in text.
func (f *finder) clean(text string) string {
	if len(f.forms) == 0 {
		return text
	}
	var out cut
	var head uint64   // the last eight bytes that were not passed over; a variable holds no NUL
	var starts [8]int // and where they are
	for i, n := 0, 0; i < len(text); i++ {
		c := text[i]
		if c <= ' ' || c == '\\' {
			if skipped := f.wrap.skip(text[i:]); skipped > 0 {
				i += skipped - 1
				continue
			}
		}
		head = head<<8 | uint64(c)
		starts[n&7] = i
		n++
		if f.maybe[hashOf(head)] {
			if end := f.end(text, i+1, head); end > 0 {
				out.drop(text, starts[n&7], end)
			}
		}
	}
	return out.rest(text)
}

// end is where the longest secret ends whose first eight bytes end at from; 0 for none.
func (f *finder) end(text string, from int, head uint64) (end int) {
	for _, tail := range f.forms[head] {
		at := from
		for k := 0; k < len(tail); k++ {
			at += f.wrap.skip(text[at:])
			if at == len(text) || text[at] != tail[k] {
				at = 0
				break
			}
			at++
		}
		end = max(end, at)
	}
	return end
}

// cleanCut replaces the first part of a secret at the end of a text that OneLine has cut.
func (f *finder) cleanCut(text string) string {
	body, ok := strings.CutSuffix(text, "…")
	if !ok {
		return text
	}
	for i := range max(0, len(body)-minSecret+1) {
		head := uint64(0)
		for _, c := range []byte(body[i : i+minSecret]) {
			head = head<<8 | uint64(c)
		}
		if !f.maybe[hashOf(head)] {
			continue
		}
		for _, tail := range f.forms[head] {
			if strings.HasPrefix(tail, body[i+minSecret:]) {
				return body[:i] + redaction + "…"
			}
		}
	}
	return text
}

// cut builds a text without parts of another one, which come in the order of their starts and may overlap.
type cut struct {
	b        strings.Builder
	done     int // so much of the text is in b or dropped
	from, to int // the part to drop next
}

func (c *cut) drop(text string, from, to int) {
	if from < c.to {
		c.to = max(c.to, to)
		return
	}
	c.flush(text)
	c.from, c.to = from, to
}

func (c *cut) flush(text string) {
	if c.to > c.done {
		c.b.WriteString(text[c.done:c.from])
		c.b.WriteString(redaction)
		c.done = c.to
	}
}

// rest returns the text without the parts.
func (c *cut) rest(text string) string {
	if c.to == 0 {
		return text
	}
	c.flush(text)
	c.b.WriteString(text[c.done:])
	return c.b.String()
}

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

// letters are those of ASCII, and the digits.
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
	hints     = setOf("bBkK?&:.z_")
	wordShape = regexp.MustCompile(`^[A-Za-z]?[a-z]+$`)
	// queryNames are the parameters of a URL that hold secrets.
	queryNames = []string{"key=", "api_key=", "token=", "access_token=", "sig=", "signature="}
)

// cleanShapes replaces secrets that CLIs and services print by themselves, told by their shape.
func cleanShapes(text string) string {
	var out cut
	for i := 0; i < len(text); i++ {
		if hints[text[i]] {
			if from, to := shapeAt(text, i); from < to {
				out.drop(text, from, to)
				i = max(i, to-1)
			}
		}
	}
	return out.rest(text)
}

// shapeAt returns where the secret is whose shape has its telling byte at i; nothing where there is none.
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

// run is the end of the bytes of the set from i on.
func (s *charset) run(text string, i int) int {
	for i < len(text) && s[text[i]] {
		i++
	}
	return i
}

// wordStart reports whether a word may begin at i. A letter there may belong to an escape of JSON.
func wordStart(text string, i int) bool {
	return i == 0 || !inWord[text[i-1]] || i > 1 && text[i-2] == '\\' && strings.IndexByte("nrt", text[i-1]) >= 0
}

// keyAt is a key from i on, with at least so many bytes of the set after its first ones.
func keyAt(text string, i, first int, set *charset, least int) (from, to int) {
	if to = set.run(text, i+first); wordStart(text, i) && to-i-first >= least {
		return i, to
	}
	return 0, 0
}

// foldPrefix reports whether text has the word at i, in any case.
func foldPrefix(text string, i int, word string) bool {
	return i >= 0 && len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word)
}

// headerAt is what follows "Bearer" and "Basic". The word after "basic" may be one of a sentence.
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

// ordinary reports whether what follows "Basic" is a word, not the base64 text of a user and a password.
func ordinary(text string) bool {
	var user [32]byte
	if len(text) > len(user) || !wordShape.MatchString(text) {
		return false
	}
	n, err := base64.RawStdEncoding.Decode(user[:], []byte(text))
	return err != nil || bytes.IndexByte(user[:n], ':') < 0 || !utf8.Valid(user[:n])
}

// apiKeyAt is the value of an "api_key", as in a header, in JSON and in JSON within JSON. i is where "key" is.
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

// quote is the end of a quotation mark at i, if there is one.
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

// loginAt is the user and the password of a URL, whose scheme ends at i.
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

// webTokenAt is a JSON web token whose first part ends at i.
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
