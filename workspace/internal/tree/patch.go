package tree

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// section is the change of one file in a patch.
type section struct {
	from, to         string // both are set unless created or deleted
	created, deleted bool
	fromMode, toMode string // such as "100644"
	fromID, toID     string // names of blobs; empty if the content does not change
	hunks            []hunk
	binary           *binary
}

// hunk replaces the lines of before at a line number, counted from 1, by those of after. Lines include their newline.
type hunk struct {
	at            int
	before, after []string
	leading       int // the number of lines at the beginning of both that do not change
	trailing      int // the same at the end
}

// parser reads a patch that Diff made. It accepts no other forms, because a patch can come from an untrusted queue.
type parser struct {
	lines    []string // with newlines
	inflated int64    // bytes of all binary contents
}

var errPatch = errors.New("the patch has an unknown form")

func parsePatch(patch string) (sections []section, err error) {
	p := &parser{lines: splitLines(patch)}
	total := len(p.lines)
	for len(p.lines) > 0 {
		s, err := p.section()
		if err != nil {
			return nil, fmt.Errorf("line %d of the patch: %w", total-len(p.lines)+1, err)
		}
		sections = append(sections, s)
	}
	return sections, nil
}

// splitLines splits a text after each newline.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// cut returns the rest of the next line after a prefix, without the newline, if the line has that prefix.
func (p *parser) cut(prefix string) (rest string, ok bool) {
	if len(p.lines) == 0 || !strings.HasPrefix(p.lines[0], prefix) || !strings.HasSuffix(p.lines[0], "\n") {
		return "", false
	}
	rest = strings.TrimSuffix(p.lines[0][len(prefix):], "\n")
	p.lines = p.lines[1:]
	return rest, true
}

func (p *parser) section() (s section, err error) {
	names, ok := p.cut("diff --git ")
	if !ok {
		return s, errPatch
	}
	if err := p.modes(&s); err != nil {
		return s, err
	}
	if err := p.paths(&s, names); err != nil {
		return s, err
	}
	if ids, ok := p.cut("index "); ok {
		if err := s.identify(ids); err != nil {
			return s, err
		}
		if err := p.content(&s); err != nil {
			return s, err
		}
	}
	return s, s.check()
}

func (p *parser) modes(s *section) error {
	if mode, ok := p.cut("old mode "); ok {
		s.fromMode = mode
		if s.toMode, ok = p.cut("new mode "); !ok {
			return errPatch
		}
	} else if mode, ok := p.cut("new file mode "); ok {
		s.created, s.toMode = true, mode
	} else if mode, ok := p.cut("deleted file mode "); ok {
		s.deleted, s.fromMode = true, mode
	}
	return nil
}

// paths parses the lines of a rename, or else takes the only path from the first line, which has it twice.
func (p *parser) paths(s *section, names string) (err error) {
	if _, ok := p.cut("similarity index "); ok {
		from, ok1 := p.cut("rename from ")
		to, ok2 := p.cut("rename to ")
		if !ok1 || !ok2 || s.created || s.deleted {
			return errPatch
		}
		if s.from, err = pathOf(from, ""); err == nil {
			s.to, err = pathOf(to, "")
		}
		if err == nil && (s.from == s.to || names != quoted("a/"+s.from)+" "+quoted("b/"+s.to)) {
			err = errPatch
		}
		return err
	}
	_, _ = p.cut("dissimilarity index ")
	var path string
	if strings.HasPrefix(names, `"`) {
		var ok bool
		if path, _, ok = unquote(names); !ok {
			return errPatch
		}
		path = strings.TrimPrefix(path, "a/")
	} else if len(names) >= len("a/x b/x") {
		path = names[len("a/") : len(names)/2]
	}
	if names != quoted("a/"+path)+" "+quoted("b/"+path) {
		return errPatch
	}
	if !s.created {
		s.from = path
	}
	if !s.deleted {
		s.to = path
	}
	return nil
}

// pathOf parses a path that may be quoted, without a prefix such as "a/".
func pathOf(text, prefix string) (string, error) {
	path := text
	if strings.HasPrefix(text, `"`) {
		var rest string
		var ok bool
		if path, rest, ok = unquote(text); !ok || rest != "" {
			return "", errPatch
		}
	}
	if quoted(path) != text || !strings.HasPrefix(path, prefix) {
		return "", errPatch
	}
	return path[len(prefix):], nil
}

// identify parses a line such as "1234..5678 100644".
func (s *section) identify(text string) error {
	ids, mode, hasMode := strings.Cut(text, " ")
	if hasMode {
		if s.fromMode != "" || s.toMode != "" {
			return errPatch
		}
		s.fromMode, s.toMode = mode, mode
	}
	var ok bool
	s.fromID, s.toID, ok = strings.Cut(ids, "..")
	if !ok || len(s.fromID) != len(s.toID) || len(s.toID) != 40 && len(s.toID) != 64 {
		return errPatch
	}
	return nil
}

func (p *parser) content(s *section) (err error) {
	if _, ok := p.cut("GIT binary patch"); ok {
		s.binary, err = p.binary()
		return err
	}
	from, ok := p.cut("--- ")
	if !ok {
		return nil // an empty file
	}
	to, ok := p.cut("+++ ")
	if !ok || !sidePath(from, "a/", s.from) || !sidePath(to, "b/", s.to) {
		return errPatch
	}
	for {
		header, ok := p.cut("@@ -")
		if !ok {
			break
		}
		h, err := p.hunk(header)
		if err != nil {
			return err
		}
		s.hunks = append(s.hunks, h)
	}
	if len(s.hunks) == 0 {
		return errPatch
	}
	return nil
}

// sidePath reports whether the text after "---" or "+++" is the path. Git adds a tab to a path with a space.
func sidePath(text, prefix, path string) bool {
	if path == "" {
		return text == "/dev/null"
	}
	name := quoted(prefix + path)
	return text == name || text == name+"\t"
}

func (p *parser) hunk(header string) (h hunk, err error) {
	ranges, _, ok := strings.Cut(header, " @@")
	from, to, ok2 := strings.Cut(ranges, " +")
	if !ok || !ok2 {
		return h, errPatch
	}
	var before, after int
	if h.at, before, err = numbers(from); err != nil {
		return h, err
	}
	if _, after, err = numbers(to); err != nil {
		return h, err
	}
	changed := false
	for len(h.before) < before || len(h.after) < after {
		if len(p.lines) == 0 {
			return h, errPatch
		}
		line := p.lines[0]
		p.lines = p.lines[1:]
		text := line[1:]
		if _, ok := p.cut(`\ `); ok {
			text = strings.TrimSuffix(text, "\n")
		}
		switch line[0] {
		case ' ':
			h.before, h.after = append(h.before, text), append(h.after, text)
			if h.trailing++; !changed {
				h.leading++
			}
			continue
		case '-':
			h.before = append(h.before, text)
		case '+':
			h.after = append(h.after, text)
		default:
			return h, errPatch
		}
		changed, h.trailing = true, 0
	}
	if len(h.before) != before || len(h.after) != after || !changed {
		return h, errPatch
	}
	return h, nil
}

// numbers parses the range of a hunk: "line,count", or only the line if the count is 1.
func numbers(text string) (at, count int, err error) {
	first, second, ok := strings.Cut(text, ",")
	if !ok {
		second = "1"
	}
	a, err1 := strconv.ParseUint(first, 10, 31)
	n, err2 := strconv.ParseUint(second, 10, 31)
	if err1 != nil || err2 != nil {
		return 0, 0, errPatch
	}
	return int(a), int(n), nil
}
