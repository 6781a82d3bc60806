package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// FromGo returns the sentences of a Go file: of its comments, and of the string literals that are texts for people. In
// a test file, these are the names of test cases only, because other literals are test data.
func FromGo(file, src string) ([]Sentence, error) {
	positions := token.NewFileSet()
	tree, err := parser.ParseFile(positions, file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	g := &goFile{file: file, positions: positions, seen: map[ast.Node]bool{}}
	for _, group := range tree.Comments {
		g.comment(group)
	}
	visit := g.text
	if strings.HasSuffix(file, "_test.go") {
		visit = g.caseName
	}
	ast.Inspect(tree, visit)
	return g.out, nil
}

type goFile struct {
	file      string
	positions *token.FileSet
	seen      map[ast.Node]bool // parts of a concatenation
	out       []Sentence
}

func (g *goFile) add(pos token.Pos, text string) {
	g.out = append(g.out, sentences(g.file, g.positions.Position(pos).Line, text)...)
}

// comment adds the paragraphs of a comment, without its directives, its code and the output of an example.
func (g *goFile) comment(group *ast.CommentGroup) {
	var paragraph []string
	flush := func() {
		g.add(group.Pos(), strings.Join(paragraph, " "))
		paragraph = nil
	}
	for _, line := range strings.Split(group.Text(), "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "Output:"), strings.HasPrefix(trimmed, "Unordered output:"):
			flush()
			return
		case trimmed == "":
			flush()
		case listItem.MatchString(line):
			flush()
			paragraph = append(paragraph, listItem.ReplaceAllString(line, ""))
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "    ") && len(paragraph) == 0:
			flush()
		default:
			paragraph = append(paragraph, strings.TrimPrefix(line, "# "))
		}
	}
	flush()
}

// text adds a literal of at least four words. Literals with the marks of patterns, JSON and code are no prose.
func (g *goFile) text(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.BinaryExpr:
		if text, ok := g.concatenated(n); ok && !g.seen[n] {
			g.literal(n.Pos(), text)
		}
	case *ast.BasicLit:
		if n.Kind == token.STRING && !g.seen[n] {
			if text, err := strconv.Unquote(n.Value); err == nil {
				g.literal(n.Pos(), text)
			}
		}
	}
	return true
}

// concatenated joins literals with + between them, and marks them as seen.
func (g *goFile) concatenated(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		g.seen[e] = true
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := g.concatenated(e.X)
		right, also := g.concatenated(e.Y)
		if ok && also {
			g.seen[e.X], g.seen[e.Y] = true, true
		}
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

var (
	words   = regexp.MustCompile(`[A-Za-z]{2,}`)
	notText = regexp.MustCompile(`["{]\w*["}]:|\(\?|\\[bdsSwW.]|^\s*[<{\[]|[$]\(|[=:]=|</|\{\{`)
	indent  = regexp.MustCompile(`(?m)^[ \t]+\S.*$`)
	verb    = regexp.MustCompile(`%[-+#]?[0-9.]*[a-zA-Z]`)
)

func (g *goFile) literal(pos token.Pos, text string) {
	if notText.MatchString(text) || len(words.FindAllString(text, 4)) < 4 || !strings.Contains(text, " ") {
		return
	}
	text = verb.ReplaceAllString(indent.ReplaceAllString(text, ""), "code")
	for _, paragraph := range strings.Split(text, "\n\n") {
		g.add(pos, paragraph)
	}
}

// caseName adds the name of a test case: a field called name, or the first argument of Run.
func (g *goFile) caseName(n ast.Node) bool {
	var name ast.Expr
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "name" {
			name = n.Value
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Run" && len(n.Args) == 2 {
			name = n.Args[0]
		}
	}
	if text, ok := g.concatenated(name); ok && strings.Contains(text, " ") {
		g.add(name.Pos(), text)
	}
	return true
}
