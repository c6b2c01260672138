# Everything, for those who ask for all of it.

module All
using ..IRTools: Variable, var, Statement, stmt, Branch, BasicBlock, Block, IR, Pipe, Self, self, xcall, walk,
    prewalk, postwalk, varmap, block, blocks, block!, deleteblock!, branches, branch!, return!, returnvalue,
    isreturn, isconditional, canbranch, explicitbranch!, argument!, arguments, argtypes, deletearg!,
    successors, predecessors, insertafter!, substitute, substitute!, finish, renumber, code_ir, @code_ir,
    func, evalir, @dynamo, recurse!, CFG, dominators, idoms, domtree, domorder, reloop, stackify, Simple,
    Loop, Multiple, definitions, usages, liveness, expand!, prune!, merge_returns!, inline, meta, @meta, Meta,
    Lambda, isexpr, refresh, functional, cond, insert!, ssa!, slots!, Slot, interference, colouring, Graph, trimblocks!, varargs!, argnames!, transform, exprtype, exprline,
    returntype, emptyargs!, branch, unreachable, prewalk!, postwalk!, @irpass
export Variable, var, Statement, stmt, Branch, BasicBlock, Block, IR, Pipe, Self, self, xcall, walk, prewalk,
    postwalk, varmap, block, blocks, block!, deleteblock!, branches, branch!, return!, returnvalue, isreturn,
    isconditional, canbranch, explicitbranch!, argument!, arguments, argtypes, deletearg!, successors,
    predecessors, insertafter!, substitute, substitute!, finish, renumber, code_ir, @code_ir, func, evalir,
    @dynamo, recurse!, CFG, dominators, idoms, domtree, domorder, reloop, stackify, Simple, Loop, Multiple,
    definitions, usages, liveness, expand!, prune!, merge_returns!, inline, meta, @meta, Meta, Lambda, isexpr,
    refresh, functional, cond, insert!, ssa!, slots!, Slot, interference, colouring, Graph, trimblocks!, varargs!, argnames!, transform, exprtype, exprline,
    returntype, emptyargs!, branch, unreachable, prewalk!, postwalk!, @irpass
end
