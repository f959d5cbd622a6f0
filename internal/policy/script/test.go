package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// test writes what stands between [[ and ]], where nothing in it is evaluated a second time.
func (r *reader) test(x syntax.TestExpr, st *state) (string, error) {
	switch x := x.(type) {
	case *syntax.Word:
		w, err := r.single(x, st)
		return w.out, err
	case *syntax.ParenTest:
		inner, err := r.test(x.X, st)
		return "( " + inner + " )", err
	case *syntax.UnaryTest:
		return r.unaryTest(x, st)
	case *syntax.BinaryTest:
		return r.binaryTest(x, st)
	}
	return "", refuse("it tests in an unusual way")
}

func (r *reader) unaryTest(x *syntax.UnaryTest, st *state) (string, error) {
	inner, err := r.test(x.X, st)
	if err != nil {
		return "", err
	}
	if x.Op == syntax.TsNot {
		return "! " + inner, nil
	}
	if _, word := x.X.(*syntax.Word); !word || !strings.Contains(" -b -c -d -e -f -g -h -k -L -n -p -r -s -S -t -u -w -x -z -G -N -O ", " "+x.Op.String()+" ") {
		return "", refuse("it tests in an unusual way")
	}
	return x.Op.String() + " " + inner, nil
}

func (r *reader) binaryTest(x *syntax.BinaryTest, st *state) (string, error) {
	left, err := r.test(x.X, st)
	if err != nil {
		return "", err
	}
	op := x.Op.String()
	switch x.Op {
	case syntax.AndTest, syntax.OrTest:
		right, err := r.test(x.Y, st)
		return "( " + left + " ) " + op + " ( " + right + " )", err
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
		right, ok := x.Y.(*syntax.Word)
		if !ok {
			break
		}
		b, err := r.parts(right, st, false)
		if err != nil {
			return "", err
		}
		out := ""
		for _, s := range b.segments {
			out += s.out
		}
		if out == "" {
			out = "''"
		}
		return left + " " + op + " " + out, nil
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		right, err := r.test(x.Y, st)
		return left + " " + op + " " + right, err
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return r.numbers(x, st)
	}
	return "", refuse("it tests in an unusual way")
}

// numbers takes a comparison of numbers, which bash evaluates as arithmetic: only digits and $? may
// stand there.
func (r *reader) numbers(x *syntax.BinaryTest, st *state) (string, error) {
	var sides []string
	for _, side := range []syntax.TestExpr{x.X, x.Y} {
		w, ok := side.(*syntax.Word)
		if !ok {
			return "", refuse("it tests in an unusual way")
		}
		word, err := r.single(w, st)
		if err != nil {
			return "", err
		}
		text, known := word.Known()
		if word.out != `"$?"` && !(known && text != "" && len(text) < 10 && strings.Trim(text, "0123456789") == "") {
			return "", refuse("it computes with a variable")
		}
		sides = append(sides, word.out)
	}
	return sides[0] + " " + x.Op.String() + " " + sides[1], nil
}
