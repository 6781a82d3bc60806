// Package rename replaces the paths of a private copy by those of the original, in the texts and events of a call.
package rename

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Pair is a path and its replacement. Both are absolute.
type Pair struct{ From, To string }

// Paths replaces paths. The zero value replaces nothing. It is immutable, so it is safe for concurrent use.
type Paths struct {
	forms []Pair // the longest From first
	first string // the bytes with which a form begins
}

// New returns the replacement of paths. It finds each path as it is, as part of a JSON string and as part of a URL.
// Texts after a path do not matter, so it also replaces the beginning of a longer path.
func New(pairs ...Pair) *Paths {
	p := new(Paths)
	for _, pair := range pairs {
		if pair.From != "" && pair.From != pair.To {
			p.add(pair)
		}
	}
	slices.SortStableFunc(p.forms, func(a, b Pair) int { return cmp.Compare(len(b.From), len(a.From)) })
	return p
}

func (p *Paths) add(pair Pair) {
	from, to := encode(pair.From), encode(pair.To)
	p.addForm(pair.From, pair.To)
	p.addForm(from.json, to.json)
	p.addForm(strings.ReplaceAll(from.json, "/", `\/`), strings.ReplaceAll(to.json, "/", `\/`))
	for i, form := range from.urls {
		p.addForm(form, to.urls[i])
		p.addForm("file://"+form, "file://"+to.urls[i])
	}
}

func (p *Paths) addForm(from, to string) {
	if slices.ContainsFunc(p.forms, func(form Pair) bool { return form.From == from }) {
		return
	}
	p.forms = append(p.forms, Pair{from, to})
	if !strings.Contains(p.first, from[:1]) {
		p.first += from[:1]
	}
}

// encoded are the forms of a path in other texts.
type encoded struct {
	json string
	urls []string
}

func encode(path string) encoded {
	slashes := filepath.ToSlash(path)
	if !strings.HasPrefix(slashes, "/") {
		slashes = "/" + slashes // the drive of Windows
	}
	elements := strings.Split(slashes, "/")
	for i, element := range elements {
		elements[i] = url.PathEscape(element)
	}
	quoted := quote(path)
	return encoded{string(quoted[1 : len(quoted)-1]), []string{
		(&url.URL{Path: slashes}).EscapedPath(), strings.Join(elements, "/"),
	}}
}

// quote returns a JSON string.
func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string has an encoding
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Text returns a text with the replacements.
func (p *Paths) Text(text string) string {
	out, _ := p.replace(text, true)
	return out
}

// replace returns the text with the replacements, and the rest from the place where the beginning of a form ends the
// text. If whole is set, there is no rest.
func (p *Paths) replace(text string, whole bool) (out, rest string) {
	var b strings.Builder
	from := 0
	for at := 0; ; {
		next := strings.IndexAny(text[at:], p.first)
		if next < 0 || p.first == "" {
			break
		}
		at += next
		if !whole && p.begins(text[at:]) {
			b.WriteString(text[from:at])
			return b.String(), text[at:]
		}
		form, ok := p.match(text[at:])
		if !ok {
			at++
			continue
		}
		b.WriteString(text[from:at])
		b.WriteString(form.To)
		at += len(form.From)
		from = at
	}
	if from == 0 {
		return text, ""
	}
	b.WriteString(text[from:])
	return b.String(), ""
}

// begins reports whether a form begins with the text and is longer.
func (p *Paths) begins(text string) bool {
	return slices.ContainsFunc(p.forms, func(form Pair) bool {
		return len(form.From) > len(text) && strings.HasPrefix(form.From, text)
	})
}

// match returns the longest form with which a text begins.
func (p *Paths) match(text string) (form Pair, ok bool) {
	i := slices.IndexFunc(p.forms, func(form Pair) bool { return strings.HasPrefix(text, form.From) })
	if i < 0 {
		return Pair{}, false
	}
	return p.forms[i], true
}

// JSON returns a JSON value with the replacements in its strings. Everything else stays the same. A value that is not
// valid is treated as a text.
func (p *Paths) JSON(raw []byte) []byte {
	if !json.Valid(raw) {
		return []byte(p.Text(string(raw)))
	}
	var out []byte
	for rest := raw; ; {
		begin := bytes.IndexByte(rest, '"')
		if begin < 0 {
			return append(out, rest...)
		}
		end := begin + 1 + endOfString(rest[begin+1:])
		out = append(append(out, rest[:begin]...), p.jsonString(rest[begin:end])...)
		rest = rest[end:]
	}
}

// endOfString returns the position after the quotation mark that ends a JSON string.
func endOfString(raw []byte) int {
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func (p *Paths) jsonString(raw []byte) []byte {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw
	}
	if renamed := p.Text(text); renamed != text {
		return quote(renamed)
	}
	return raw
}
