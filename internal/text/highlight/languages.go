package highlight

// The tables contain the words listed in the languages' own references.

func slashes() (line []string, block [][2]string) {
	return []string{"//"}, [][2]string{{"/*", "*/"}}
}

func goGrammar() grammar {
	g := grammar{
		keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
		types: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 " +
			"uint16 uint32 uint64 uintptr",
		constants: "true false nil iota",
		quotes:    append(common(), quote{"`", "`", false, true}),
		calls:     true,
	}
	g.line, g.block = slashes()
	return g
}

func modGrammar() grammar {
	return grammar{keywords: "module go toolchain require replace exclude retract use tool godebug ignore", line: []string{"//"}, quotes: common(), letters: "./-@"}
}

func pythonGrammar() grammar {
	return grammar{
		keywords: "and as assert async await break class continue def del elif else except finally for from global if import in is lambda " +
			"match nonlocal not or pass raise return try while with yield",
		types:     "int float str bytes bool list dict set tuple frozenset object type complex bytearray range",
		constants: "True False None self cls",
		line:      []string{"#"},
		quotes:    append([]quote{{`"""`, `"""`, true, true}, {`'''`, `'''`, true, true}}, common()...),
		calls:     true, capitals: true, marks: "@",
	}
}

func scriptGrammar() grammar {
	g := grammar{
		keywords: "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends " +
			"finally for from function get if implements import in infer instanceof interface is keyof let namespace new of override " +
			"private protected public readonly return satisfies set static super switch this throw try type typeof var void while with yield",
		types:     "any bigint boolean never number object string symbol unknown",
		constants: "true false null undefined NaN Infinity",
		quotes:    append(common(), quote{"`", "`", true, true}),
		letters:   "$", calls: true, capitals: true, marks: "@", regexp: true,
	}
	g.line, g.block = slashes()
	return g
}

func jsonGrammar() grammar {
	g := grammar{constants: "true false null", quotes: common(), keys: ':'}
	g.line, g.block = slashes()
	return g
}

func yamlGrammar() grammar {
	return grammar{constants: "true false null yes no on off True False", line: []string{"#"}, needsSpace: true, quotes: common(),
		letters: "-./", marks: "&*!", keys: ':', keyWords: true}
}

func tomlGrammar() grammar {
	return grammar{constants: "true false", line: []string{"#", ";"}, needsSpace: true,
		quotes: append([]quote{{`"""`, `"""`, true, true}, {`'''`, `'''`, false, true}}, quote{`"`, `"`, true, false}, quote{`'`, `'`, false, false}),
		keys:   '=', keyWords: true, heads: true}
}

func shellGrammar() grammar {
	return grammar{
		keywords: "if then else elif fi case esac for select while until do done in function time",
		types: "alias bg break cd command continue declare echo eval exec exit export false fg getopts hash jobs let local printf pwd read " +
			"readonly return set shift shopt source test trap true type typeset ulimit umask unalias unset wait",
		line: []string{"#"}, needsSpace: true,
		quotes:  []quote{{`"`, `"`, true, true}, {`'`, `'`, false, true}, {"`", "`", true, false}},
		letters: "-./+%~", marks: "$",
	}
}

func rustGrammar() grammar {
	g := grammar{
		keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return " +
			"self static struct super trait type union unsafe use where while yield",
		types:     "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self",
		constants: "true false None Some Ok Err",
		quotes:    []quote{{`r#"`, `"#`, false, true}, {`"`, `"`, true, true}},
		nests:     true, calls: true, capitals: true, macros: true, ticks: true,
	}
	g.line, g.block = slashes()
	return g
}

func cGrammar() grammar {
	g := grammar{
		keywords: "alignas alignof asm auto break case catch class co_await co_return co_yield concept const consteval constexpr constinit " +
			"const_cast continue decltype default delete do dynamic_cast else enum explicit export extern final for friend goto if inline " +
			"mutable namespace new noexcept operator override private protected public register reinterpret_cast requires restrict return " +
			"sizeof static static_assert static_cast struct switch template this thread_local throw try typedef typeid typename union " +
			"using virtual volatile while",
		types: "bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t intptr_t long ptrdiff_t short signed " +
			"size_t ssize_t uint8_t uint16_t uint32_t uint64_t uintptr_t unsigned void wchar_t FILE",
		constants: "true false nullptr NULL",
		quotes:    common(), calls: true, lead: "#",
	}
	g.line, g.block = slashes()
	return g
}

func javaGrammar() grammar {
	g := grammar{
		keywords: "abstract assert break case catch class continue default do else enum exports extends final finally for if implements import " +
			"instanceof interface module native new non-sealed package permits private protected public record requires return sealed static strictfp " +
			"super switch synchronized this throw throws transient try var volatile while yield",
		types:     "boolean byte char double float int long short void",
		constants: "true false null",
		quotes:    append([]quote{{`"""`, `"""`, true, true}}, common()...),
		calls:     true, capitals: true, marks: "@",
	}
	g.line, g.block = slashes()
	return g
}

func sharpGrammar() grammar {
	g := grammar{
		keywords: "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern " +
			"finally fixed for foreach get goto if implicit in init interface internal is lock namespace new operator out override params partial " +
			"private protected public readonly record ref required return sealed set sizeof stackalloc static struct switch this throw try typeof " +
			"unchecked unsafe using var virtual volatile when where while with yield",
		types:     "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort void",
		constants: "true false null",
		quotes:    append([]quote{{`"""`, `"""`, false, true}, {`@"`, `"`, false, true}}, common()...),
		calls:     true, capitals: true, lead: "#",
	}
	g.line, g.block = slashes()
	return g
}

func rubyGrammar() grammar {
	return grammar{
		keywords: "BEGIN END alias and begin break case class def defined? do else elsif end ensure for if in module next not or redo rescue " +
			"retry return super then undef unless until when while yield require require_relative include extend attr_reader attr_writer attr_accessor",
		constants: "true false nil self __FILE__ __LINE__",
		line:      []string{"#"}, needsSpace: true, block: [][2]string{{"\n=begin", "\n=end"}},
		quotes:  []quote{{`"`, `"`, true, true}, {`'`, `'`, true, true}, {"`", "`", true, false}},
		letters: "?", calls: true, capitals: true, marks: "@$:", regexp: true,
	}
}

func phpGrammar() grammar {
	g := grammar{
		keywords: "abstract and as break callable case catch class clone const continue declare default do echo else elseif empty enddeclare " +
			"endfor endforeach endif endswitch endwhile enum extends final finally fn for foreach function global goto if implements include " +
			"include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require " +
			"require_once return static switch throw trait try unset use var while xor yield",
		types:     "array bool float int iterable mixed never object string void",
		constants: "true false null TRUE FALSE NULL self parent",
		quotes:    []quote{{`"`, `"`, true, true}, {`'`, `'`, true, true}},
		calls:     true, capitals: true, marks: "$",
	}
	g.line, g.block = slashes()
	g.line = append(g.line, "#")
	return g
}

func sqlGrammar() grammar {
	return grammar{
		keywords: "add all alter and any as asc begin between by cascade case check column commit constraint create cross database default delete " +
			"desc distinct drop else end escape except exists explain fetch filter for foreign from full function grant group having if ilike in " +
			"index inner insert intersect into is join key left like limit materialized natural not offset on or order outer over partition " +
			"pragma primary procedure recursive references replace returning revoke right rollback row rows select set table temporary then to " +
			"transaction trigger truncate union unique update using vacuum values view when where window with",
		types: "bigint binary bit blob boolean bytea char date datetime decimal double float int integer interval json jsonb numeric real serial " +
			"smallint text time timestamp timestamptz tinyint uuid varchar",
		constants: "null true false", fold: true,
		line: []string{"--"}, block: [][2]string{{"/*", "*/"}},
		quotes: []quote{{`'`, `'`, false, true}, {`"`, `"`, false, false}, {"`", "`", false, false}},
		calls:  true,
	}
}

func cssGrammar() grammar {
	return grammar{block: [][2]string{{"/*", "*/"}}, quotes: common(), letters: "-", keys: ':', marks: "$.#", lead: "@", calls: true}
}

func makeGrammar() grammar {
	return grammar{keywords: "include define endef export unexport override ifeq ifneq ifdef ifndef else endif vpath",
		line: []string{"#"}, needsSpace: true, quotes: common(), letters: "-./", marks: "$", keys: ':', keyWords: true}
}

func dockerGrammar() grammar {
	return grammar{keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR",
		line: []string{"#"}, needsSpace: true, quotes: common(), letters: "-./", marks: "$"}
}
