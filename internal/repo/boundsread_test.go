package repo_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testPackage has the tests of one directory.
type testPackage struct {
	files    []*sourceFile
	consts   map[string]constantOf // by directory and name, and by package and name
	timed    map[string]bool       // functions and variables with measured times, and variables with a time of the clock
	function string                // that is read at present
	inBubble map[string]bool       // functions that only synctest bubbles call
	bubbles  map[string]bool       // functions that run their argument in a synctest bubble
}

// constantOf is the value of a constant, and the directory of its package.
type constantOf struct {
	value ast.Expr
	dir   string
}

// testPackages returns the packages of tests by directory.
func testPackages(files []*sourceFile) map[string]*testPackage {
	consts := map[string]constantOf{}
	for _, f := range files {
		eachConst(f.ast, func(name string, value ast.Expr) {
			c := constantOf{value, f.dir()}
			consts[strings.TrimSuffix(f.ast.Name.Name, "_test")+"."+name], consts[f.dir()+"."+name] = c, c
		})
	}
	packages := map[string]*testPackage{}
	for _, f := range files {
		if !f.forTests() {
			continue
		}
		name := f.dir() + "/" + strings.TrimSuffix(f.ast.Name.Name, "_test")
		if packages[name] == nil {
			packages[name] = &testPackage{consts: consts, timed: map[string]bool{}, bubbles: map[string]bool{}}
		}
		packages[name].files = append(packages[name].files, f)
	}
	for _, p := range packages {
		p.readBubbles()
		for before := -1; before < len(p.timed); {
			before = len(p.timed)
			p.readTimes()
		}
	}
	return packages
}

func eachConst(file *ast.File, found func(name string, value ast.Expr)) {
	ast.Inspect(file, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST && decl.Tok != token.VAR {
			return true
		}
		for _, spec := range decl.Specs {
			if spec := spec.(*ast.ValueSpec); len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					found(name.Name, spec.Values[i])
				}
			}
		}
		return true
	})
}

// readBubbles finds the functions that bubbles call, and nothing else.
func (p *testPackage) readBubbles() {
	inside, outside := map[string]bool{}, map[string]bool{}
	p.eachFunction(func(fn *ast.FuncDecl) {
		runs := slices.ContainsFunc(fn.Type.Params.List, func(f *ast.Field) bool { _, ok := f.Type.(*ast.FuncType); return ok })
		if runs && within(fn, p.isBubble) {
			p.bubbles[fn.Name.Name] = true
		}
	})
	for _, f := range p.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if n != nil && p.isBubble(n) {
				within(n, func(n ast.Node) bool { return note(n, inside) })
			}
			return true
		})
	}
	p.eachFunction(func(fn *ast.FuncDecl) {
		if !inside[fn.Name.Name] {
			p.outsideBubbles(fn, func(n ast.Node) { note(n, outside) })
		}
	})
	for name := range outside {
		delete(inside, name)
	}
	p.inBubble = inside
}

func note(n ast.Node, names map[string]bool) bool {
	if call, ok := n.(*ast.CallExpr); ok {
		names[called(call)] = true
	}
	return false
}

func (p *testPackage) eachFunction(visit func(*ast.FuncDecl)) {
	for _, f := range p.files {
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				p.function = fn.Name.Name
				visit(fn)
			}
		}
	}
}

func (p *testPackage) isBubble(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && (isCall(call, "synctest", "Test") || p.bubbles[called(call)])
}

// readTimes finds the variables and functions whose value is measured time.
func (p *testPackage) readTimes() {
	p.eachFunction(func(fn *ast.FuncDecl) {
		ast.Inspect(fn, func(n ast.Node) bool {
			if n, ok := n.(*ast.AssignStmt); ok {
				p.readAssignment(n)
			}
			return true
		})
		if at := p.returnsTime(fn.Body); at >= 0 {
			p.timed[fmt.Sprint(fn.Name.Name, at)] = true
		}
	})
}

func (p *testPackage) readAssignment(n *ast.AssignStmt) {
	for i, left := range n.Lhs {
		name, ok := left.(*ast.Ident)
		if !ok {
			continue
		}
		if len(n.Rhs) < len(n.Lhs) { // the results of one call
			call, ok := n.Rhs[0].(*ast.CallExpr)
			if ok && p.isTimed(called(call), i) {
				p.timed[p.function+"."+name.Name] = true
			}
			continue
		}
		if isCall(n.Rhs[i], "time", "Now") {
			p.timed[p.function+".clock "+name.Name] = true
		}
		if p.elapsed(n.Rhs[i]) {
			p.timed[p.function+"."+name.Name] = true
		}
		if literal, ok := n.Rhs[i].(*ast.FuncLit); ok {
			if at := p.returnsTime(literal.Body); at >= 0 {
				p.timed[fmt.Sprint(p.function, ".", name.Name, at)] = true
			}
		}
	}
}

// returnsTime returns which result of a function is measured time, or -1.
func (p *testPackage) returnsTime(body *ast.BlockStmt) int {
	at := -1
	ast.Inspect(body, func(n ast.Node) bool {
		if n, ok := n.(*ast.ReturnStmt); ok && at < 0 {
			at = slices.IndexFunc(n.Results, p.elapsed)
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return at
}

// isTimed reports whether a result of a function is measured time.
func (p *testPackage) isTimed(function string, result int) bool {
	return p.timed[fmt.Sprint(function, result)] || p.timed[fmt.Sprint(p.function, ".", function, result)]
}

// elapsed reports whether an expression has measured time.
func (p *testPackage) elapsed(expr ast.Expr) bool {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return p.elapsed(e.X)
	case *ast.Ident:
		return p.timed[p.function+"."+e.Name]
	case *ast.SelectorExpr:
		return e.Sel.Name == "Duration" && !isPackage(e.X, "time")
	case *ast.IndexExpr:
		return p.elapsed(e.X)
	case *ast.BinaryExpr:
		return p.elapsed(e.X) || p.elapsed(e.Y)
	case *ast.CallExpr:
		if isCall(e, "time", "Since") || p.isTimed(called(e), 0) {
			return true
		}
		if called(e) == "Sub" && within(e, p.readsClock) {
			return true
		}
		if fun, ok := e.Fun.(*ast.SelectorExpr); ok && p.elapsed(fun.X) {
			return true
		}
		for _, arg := range e.Args {
			if (called(e) == "min" || called(e) == "max" || called(e) == "Duration") && p.elapsed(arg) {
				return true
			}
		}
	}
	return false
}

// readsClock reports whether a node is time.Now(), or a variable with its value.
func (p *testPackage) readsClock(n ast.Node) bool {
	name, ok := n.(*ast.Ident)
	return isCall(n, "time", "Now") || ok && p.timed[p.function+".clock "+name.Name]
}

func isPackage(expr ast.Expr, name string) bool {
	ident, ok := expr.(*ast.Ident)
	return ok && ident.Name == name
}

var units = map[string]time.Duration{
	"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// value returns the value of a constant expression of the package in a directory.
func (p *testPackage) value(expr ast.Expr, dir string) (float64, bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		return constant.Float64Val(constant.ToFloat(constant.MakeFromLiteral(e.Value, e.Kind, 0)))
	case *ast.ParenExpr:
		return p.value(e.X, dir)
	case *ast.Ident:
		c := p.consts[dir+"."+e.Name]
		return p.value(c.value, c.dir)
	case *ast.SelectorExpr:
		if isPackage(e.X, "time") {
			return float64(units[e.Sel.Name]), true
		}
		if pkg, ok := e.X.(*ast.Ident); ok {
			c := p.consts[pkg.Name+"."+e.Sel.Name]
			return p.value(c.value, c.dir)
		}
	case *ast.BinaryExpr:
		x, ok := p.value(e.X, dir)
		y, also := p.value(e.Y, dir)
		return map[token.Token]float64{token.MUL: x * y, token.ADD: x + y, token.SUB: x - y, token.QUO: x / y}[e.Op], ok && also
	}
	return 0, false
}

func parsedTest(t *testing.T, text string) *sourceFile {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p_test.go", text, 0)
	require.NoError(t, err)
	return &sourceFile{"a/p_test.go", set, file}
}
