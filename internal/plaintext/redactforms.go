package plaintext

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clichain/clichain/internal/pattern"
)

// formsOf returns the forms in which programs print a secret value, sorted.
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
		add(percent().ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	add(hex.EncodeToString([]byte(value)))
	add(strings.ToUpper(hex.EncodeToString([]byte(value))))
	for _, form := range forms {
		for _, escaped := range jsonEscapes(form) {
			forms = append(append(forms, escaped), jsonEscapes(escaped)...) // JSON inside a JSON string
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

var (
	percent = pattern.Of(`%[0-9A-F]{2}`)
	// likeScripts converts a query escape to that of JavaScript's encodeURIComponent.
	likeScripts = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	unHTML      = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
)

// insideBase64 returns the part of a value's base64 text that does not depend on the bytes around the value, as in
// "user:value". before is the number of preceding bytes, modulo 3.
func insideBase64(e *base64.Encoding, value string, before int) string {
	text := e.WithPadding(base64.NoPadding).EncodeToString([]byte("\x00\x00"[:before] + value))
	if (before+len(value))%3 != 0 {
		text = text[:len(text)-1]
	}
	return text[min(len(text), [...]int{0, 2, 3}[before]):]
}

// jsonEscapes returns the escaped forms of a text in a JSON string that differ from the text, without the quotes.
func jsonEscapes(text string) []string {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\\<>&/`, r) }) < 0 {
		return nil
	}
	quoted, _ := json.Marshal(text)
	html := string(quoted[1 : len(quoted)-1])
	plain := unHTML.Replace(html)
	return []string{html, plain, strings.ReplaceAll(plain, "/", `\/`), asciiJSON(html), asciiJSON(plain)}
}

// asciiJSON escapes all non-ASCII characters.
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
