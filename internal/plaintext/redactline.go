package plaintext

import (
	"encoding/binary"
	"strings"
)

// CleanLine is Clean for one of several lines that are shown apart: it also removes what the line has of a secret that
// began on the line before, or that goes on in the next.
func (r *Redactor) CleanLine(line string) string {
	text := r.Clean(line)
	if r == nil || len(r.plain.forms) == 0 {
		return text
	}
	r.once.Do(func() { r.later = r.plain.laterParts() })
	body := strings.TrimRight(text, " \t\r\n")
	body = r.plain.cleanEnd(body) + text[len(body):]
	start := len(body) - len(strings.TrimLeft(body, " \t"))
	if n := r.later.prefix(strings.TrimRight(body[start:], " \t\r\n")); n > 0 {
		return body[:start] + redaction + body[start+n:]
	}
	return body
}

// parts are ends of secrets, by their first eight bytes.
type parts map[string][]string

// laterParts are the ends of all secrets, but for whole ones.
func (f *finder) laterParts() parts {
	p := parts{}
	for head, tails := range f.forms {
		for _, tail := range tails {
			form := string(binary.BigEndian.AppendUint64(nil, head)) + tail
			for i := 1; i+minSecret <= len(form); i++ {
				p[form[i:i+minSecret]] = append(p[form[i:i+minSecret]], form[i:])
			}
		}
	}
	return p
}

// prefix is the length of the part of a secret that the line begins with, all of which that the line has room for.
func (p parts) prefix(line string) (longest int) {
	if len(line) < minSecret {
		return 0
	}
	for _, end := range p[line[:minSecret]] {
		if n := min(len(end), len(line)); line[:n] == end[:n] {
			longest = max(longest, n)
		}
	}
	return longest
}
