"""The learners by name: of whole graphs, of neighbors, and of Markov blankets.

Each entry has the name, the class (module:Class), the publication, and a line on what the learner does.
"""

from __future__ import annotations

from f2sl._registry import Registry

STRUCTURE = Registry("algorithm", "f2sl.learners.base:StructureLearner")
STRUCTURE.add_all(
    "f2sl.learners",
    """
f2sl-c           f2sl:F2SLc                     Yu et al., Algorithm 2
    FCBF for each variable's neighbors, v-structures by independence tests, Meek's rules
f2sl-s           f2sl:F2SLs                     Yu et al., Algorithm 1
    FCBF for each variable's neighbors, directions by a score (BDeu, BGe) and hill climbing
f2sl-h           f2sl_h:F2SLh                   f2sl
    confirmed FCBF for each variable's candidates, the DAG with the best score by a search over orders
boss             boss:BOSS                      Andrews and others 2023
    the DAG with the best score by a search over orders of all variables, parents grown on demand
hc               hill_climbing:HillClimbing     Heckerman and others 1995
    hill climbing on a score over all pairs of variables
tabu             hill_climbing:Tabu             Glover 1989
    hill climbing over all pairs that goes on from local optima, with a list of tabu graphs
mmhc             mmhc:MMHC                      Tsamardinos and others 2006
    MMPC for each variable's neighbors, directions by a score (BDeu, BGe) and hill climbing
mmhc-c           mmhc:MMHCc                     Yu et al., section 6.1
    MMPC for each variable's neighbors, v-structures by independence tests, Meek's rules
gsbn             gsbn:GSBN                      Margaritis and Thrun 2000
    Markov blankets by growing and shrinking, edges and directions from them, Meek's rules
sll+c            by_best_networks:SLLc          Niinimäki and Parviainen 2012
    Markov blankets by best networks, v-structures from spouses, Meek's rules
sll+g            by_best_networks:SLLg          Niinimäki and Parviainen 2012
    neighbors by best networks, directions by the score and hill climbing
ggsl             ggsl:GGSL                      Gao, Fadnis and Campbell 2017
    grows from one variable to all by best networks, conflicts decided by the score, Meek's rules
tc               tc:TC                          Pellet and Elisseeff 2008
    Markov blankets from the inverse correlation matrix, spouses by collider sets; continuous columns
pc-stable        pc_stable:PCStable             Colombo and Maathuis 2014
    edges removed level by level by independence tests, colliders by separating sets, Meek's rules
exact            exact_search:ExactSearch       Silander and Myllymaki 2006
    the DAG with the best score of all, for up to about 20 variables
notears          notears:NOTEARS                Zheng and others 2018
    linear equations by least squares, cycles kept out by a smooth constraint
dag-gnn          dag_gnn:DAGGNN                 Yu, Chen, Gao and Yu 2019
    an autoencoder with a matrix of weights between the variables, trained to be that of a DAG
local-to-global  local_to_global:LocalToGlobal  Yu et al., section 5
    any learner of neighbors, either way of orienting
""",
)

LOCAL = Registry("PC algorithm", "f2sl.learners.local.base:LocalLearner")
LOCAL.add_all(
    "f2sl.learners.local",
    """
fcbf            fcbf:FCBF                Yu and Liu 2004
    relevant by SU (of continuous columns, r^2), redundant by approximate blankets: the core of F2SL
fcbf-confirmed  confirmed:ConfirmedFCBF  f2sl
    relevant by significance, redundant where a test confirms it: the first step of F2SL-h
mrmr            mrmr:MRMR                Peng, Long and Ding 2005
    the k best by relevance minus mean redundancy
mmpc            mmpc:MMPC                Tsamardinos and others 2006
    the best by their weakest association given any of the others
hiton-pc        hiton_pc:HITONPC         Aliferis and others 2003
    by association, dropping what some of the others separate, after each
pc-simple       pc_simple:PCSimple       Bühlmann and others 2010
    drops what sets of 1, 2, 3, ... of the others separate
sll-pc          sll:SLLPC                Niinimäki and Parviainen 2012
    neighbors of the target in the best network with each candidate, if they name the target, too
s2tmb-pc        s2tmb:S2TMBPC            Gao and Ji 2017
    neighbors of the target in the best network that also has its spouses
""",
)

MARKOV_BLANKET = Registry("Markov-blanket algorithm", "f2sl.learners.local.base:LocalLearner")
MARKOV_BLANKET.add_all(
    "f2sl.learners.local",
    """
gsmb        grow_shrink:GSMB        Margaritis and Thrun 2000
    grows by dependence given the set, in the order of association, then shrinks
iamb        grow_shrink:IAMB        Tsamardinos and others 2003
    grows by the strongest association given the set, then shrinks
inter-iamb  grow_shrink:InterIAMB   Tsamardinos and others 2003
    IAMB that shrinks after each variable it lets in
hiton-mb    by_neighbors:HITONMB   Aliferis and others 2003
    HITON-PC, then spouses shown by a common child
mmmb        by_neighbors:MMMB      Tsamardinos and others 2003
    MMPC, then spouses shown by a common child
pcmb        by_neighbors:PCMB      Peña and others 2007
    parents and children that both ends name, then spouses
stmb        stmb:STMB               Gao and Ji 2017
    parents and children with spouses, from the target alone
bamb        bamb:BAMB               Ling and others 2019
    parents and children and spouses in alternation
tc          tc_blankets:TCBlankets  Pellet and Elisseeff 2008
    correlated given all others, from the inverse correlation matrix; continuous columns
sll         sll:SLL                 Niinimäki and Parviainen 2012
    neighbors by best networks, then spouses among their neighbors
s2tmb       s2tmb:S2TMB             Gao and Ji 2017
    neighbors and spouses in one best network
""",
)
