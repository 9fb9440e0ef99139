"""Turns of speech by what they do in letters of trade: words in a row, any of the words in brackets."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from akinai.worlds.vending.letters.meaning.lexicon import stem

_TURNS: Mapping[str, str] = {
    "agree": (
        "deal|you're on|count [us,me] in|[i'm,i am,we're,we are] in|go for it|[go,going] with [it,that,this,"
        "your]|[let's,lets] do [it,this,that]|[work,works] [,fine,well,perfectly,great] for [us,me]|good to go|"
        "[sound,sounds,look,looks,seem,seems] [,very,really,all] [good,great,fine,fair,perfect,right,reasonable]|"
        "no [objection,objections,complaints]|[no,without any] [reservations,issues] with|as it stands|as "
        "[offered,quoted,proposed,stated,written,set out,agreed,outlined,described]|fine [by,with] [us,me]|[suit,"
        "suits] [us,me,our]|[happy,pleased,content,comfortable,satisfied,okay,ok,good,fine] with [it,that,this,"
        "the,your,QUO]|[sign,signed,signing] off|say yes|[take,taking] you up|on board|green light|thumbs up|"
        "[all,that's,that is,this is,is] [good,fine,ok,okay] [with,by,for,on]|[meet,meets] [with,our]|in "
        "agreement|[take,taking] [it,up,the offer,your offer,that offer]|it's a yes|the answer is yes|lock [it,"
        "that,this,these] in|book it|make it [so,official,happen]|consider [it,this,that,QUO,the offer] [,as] "
        "[accepted,done,approved,confirmed,agreed,taken]|on [those,these,that,your,the] [terms,basis,conditions]|"
        "at [that,this,the quoted,the offered,your] price|[yes,yep,yeah,sure] [please,ok,okay,we,i,thats,go,do]|"
        "[we,i] [accept,agree,approve,confirm]|[we're,we are,i'm,i am] [agreed,sold,decided]|[you have,you've "
        "got,we have,we've got,it's,it is,call it] a deal|full steam|pull the trigger|move [ahead,forward]|into "
        "an order|get [it,this,that] [done,going,rolling,moving]|into [an order,a firm order,effect]|wrap [it,"
        "this] up|[seal,close,done] [,the] deal|won't argue|[that,which] [works,suits,fits,does]|[your,the] "
        "[offer,terms,price,quote] [is,are] [accepted,agreeable,acceptable,approved,fair,fine,good,perfect]|"
        "gladly accept|hereby accept|accept [your,the] [offer,terms,price,quote,quotation,proposal]|happy to [go,"
        "proceed,accept,take,move]"
    ),
    "later": (
        "[get,come,circle,report] back to|let you know [once,when,after,if,tomorrow,by,whether]|[think,thinking] "
        "[it,about,of,over]|[hold,holding] off|not yet|under [review,consideration,discussion]|run [,the,some] "
        "numbers|look [it,this,that] over|[study,consider,weigh,review] [it,this,that,your,the]|[need,needs] [,"
        "some,more,a bit of] time|before [we,i] [decide,commit,order,sign,buy,say,do]|[be,keep] in touch|will "
        "decide|[wait,waiting] [for,until,till]|[compare,comparing] [offers,quotes,prices]|[talk,speak,check] "
        "[it,this,with] [,my,our,the] [boss,manager,partner,owner,over,colleague,accountant]|give [me,us] [until,"
        "a,some,time]|hear from [us,me]|on my desk|not [decided,sure,certain,ready]|[make,made,reach,reached] "
        "[up,a decision]|[at,by] the end of|down the [road,line]|in due course|when [the,we,our,i] [time,have,"
        "machine,cash,need,know,can]|[will,shall,may,might] [order,buy,need,want,take,revisit]|keep [it,this,you,"
        "your,that] [in mind,on file,posted,informed]|subject to|needs [the,an,my] [approval,ok,okay]|up in the "
        "air|in the meantime|[still,currently] [weighing,evaluating,comparing,thinking,deciding,considering]"
    ),
    "refuse": (
        "[cannot,can't,could not,unable to,won't,not,not able to,not going to,not in a position to] [accept,"
        "afford,agree,take,pay,go along,go with,buy,commit,approve,justify]|pass [on,this,for]|[we'll,i'll,we "
        "will,i will,have to,must] [pass,decline,refuse,turn]|not interested|no [thanks,thank you]|out of [our,"
        "my] [budget,range]|[above,beyond,over,more than] [what,our,my] [we,i,budget,means,limit]|nothing [for "
        "us,this,else,today,needed,required,from us]|no need [for,to,of]|decided against|turn [it,you,that,the] "
        "down|[did not,didn't,don't,do not,will not,won't] [order,buy,need,want,purchase,require] [any,anything,"
        "more,CNT,the,it]|[not,never] [order,ordered,ask for,asked for,buying,ordering]|too [high,expensive,much,"
        "dear] for|[stay,sticking,stick,gone,went] with [our,another,somebody,someone,a different,the other]"
    ),
    "revoke": (
        "no longer [need,want,require,interested,necessary,needed,required,wanted]|second [thought,thoughts]|"
        "never mind|forget [about,it,that,the,my,our,ORD,QUO,we,i]|[call,called,calling] [it,that,the,ORD] off|"
        "[call,called,calling] off|pull the plug|[back,backing,pull,pulling] out|changed [my,our,his,her,their] "
        "[mind,minds]|[don't,do not,not to,no need to,not] [send,ship,deliver,process,fulfil,dispatch,charge,"
        "pack,load] [it,that,them,ORD,the,my,our,this,those,any,us,me]|[take,taking] [it,that,this,them,ORD] "
        "[off,back,out]|not [go,going] [ahead,forward]|won't be [going,needing,taking]|[don't,do not,won't,not] "
        "[need,want] [it,them,that,ORD,this,those,the]|by [mistake,accident]|in error|a duplicate|off the books|"
        "get rid|stop [the,my,our,ORD]|[drop,delete,remove,kill,scrap,nix,bin,void,strike,undo,reverse,rescind,"
        "erase,pull] [it,that,this,ORD,QUO,the order,my order,our order,the quote]|[be,is,was] [dropped,scrapped,"
        "voided,withdrawn,called off,removed,deleted,undone]|[let,letting] [it,QUO] [lapse,go,expire]|[placed,"
        "sent,ordered,submitted] [twice,in error]|[was,were] [a mistake,an error,an accident]|not [needed,"
        "required,wanted] [any more,anymore,after all,any longer]|after all|leave [it,ORD] out|stand down|hold "
        "everything|do away with|[bow,opt,step] out|abandon|[instead,rather] [cancel,drop]|backing away"
    ),
    "amend": (
        "[bump,raise,lower,bring,cut,drop,push,take,move,scale,trim,pare,boost,up,increase,decrease,reduce] [it,"
        "the,that,them,this,my,our,§,ORD] [,§,number,quantity,amount,order,up,down,back] [to,by,down,up,from]|"
        "[up,down,over,back] [to,from] [CNT,NUM]|[from,of] [CNT,NUM] [to,up,down]|[instead of,rather than,in "
        "place of,in lieu of] [,the] [CNT,NUM,§]|not [CNT,NUM]|should [be,read,say,have been,have said,show] [,"
        "only] [CNT,NUM]|[i,we] meant [,to]|[by,of] [CNT,NUM] [,more,less,fewer]|make [it,that,the,those] [,§] "
        "[CNT,NUM]|[set,change,correct,edit,fix,alter] [it,the,that,§] [,§] to|cut in half|everything else [,"
        "stays,remains,unchanged,is,as]|the rest [stays,remains,unchanged,as]|too [much,many]|[would,will] be "
        "[enough,plenty,sufficient,fine]|will [do,suffice]|is [enough,plenty]|[revised,corrected,updated,new,"
        "amended] [quantity,quantities,amount,order,numbers]|wrong number|one zero|[typing,clerical] [error,"
        "mistake]|[mistyped,miscounted,misjudged,overestimated,underestimated]|as follows|[swap,switch,replace,"
        "exchange,substitute] [the,§,CNT,out]|[add,adding] [CNT,NUM,another,more] [,§] to [ORD,the,my,our,it]|"
        "change of plan"
    ),
    "lack": (
        "not in the [box,boxes,delivery,crate,parcel,truck,carton,shipment]|[short,shy] [by,of,on]|[came,come,"
        "was,were,are] [,up] short|[fewer,less] than|[only,just,merely,barely] [CNT,NUM] [,of]|[CNT,NUM] of the|"
        "out of [the,CNT,NUM]|never [made,arrived,came,turned,showed,reached]|nothing but|past [its,their,the] "
        "[date,best]|best before|sell by|use by|[went,gone,going,go] [bad,off,brown,stale,soft,sour]|make [it,"
        "this,that,up,good,us]|the [rest,remainder,difference,balance]|[our,my,the] money [,back]|credit [us,me,"
        "our,my,note,the]|owe us|[charged,billed,invoiced,paid] [,us] for|[cannot,can't,not] [be sold,sell,"
        "sellable,usable,use]|unfit for|wrong [item,items,goods,product,products,box,order,things]|not what [we,"
        "i]|[somebody,someone] else's|[don't,doesn't,does not,do not,didn't,did not] [match,tally,add up,agree,"
        "correspond]|delivery [note,slip]|packing [list,slip]|invoice says|[we,i] counted|[not,without] a single|"
        "were [missing,broken,damaged,crushed]|[arrived,came,were,was,had,got] [broken,damaged,crushed,spoiled,"
        "rotten,wet,melted,open,bad,mouldy,moldy,stale,expired]|[there,here] [were,was,are] [only,just,no]|none "
        "of|in pieces|nothing like|half of|[is,are,were,was] not [there,in,included,on]|[is,are,were,was] [wrong,"
        "bad,faulty,unusable,defective]|[supposed,meant] to [be,contain]|should have [been,contained,had]|[get,"
        "got,received,sent] [,us,me] [something else,the wrong,instead]|didn't [get,receive,come with]"
    ),
    "whereabouts": (
        "[turned,turn,showed,show,shown] up|no sign|[where,where's] [is,are,ORD,it,our,my,the]|on [its,the,"
        "their] way|any [news,word,update,updates,idea,sign,progress,movement]|what [happened,is happening,is "
        "going on,became,about]|[haven't,have not,hasn't,has not,didn't,not,never] [,yet] [received,seen,got,had,"
        "heard,arrived,come,shown,turned,been delivered]|still [waiting,no,not,nothing,missing,outstanding,"
        "pending,hasn't,haven't]|set off|[left,leave] your|[be,get,reach] [here,us]|[expect,expecting] [it,them,"
        "the,our,delivery,ORD]|when [will,can,does,is,are,should,do,would]|status of|chasing|[following,follow] "
        "up|[check,checking] [in,on,up]|days [late,ago,overdue]|should have [arrived,come,landed,reached,been "
        "here]|was [due,supposed,promised,expected]|[go,gone,went] through|did you [get,receive,ship,send]|"
        "[delivery,shipping,arrival] [date,estimate,time,status]|[the,your] [driver,truck,van]|look into|track "
        "[it,down,ORD,the,our,my]|how [far,close] [is,are,along]|has [it,ORD,my,our,the] [shipped,left,gone,"
        "been]|have [they,you] [left,shipped,sent]"
    ),
    "dear": (
        "too [high,much,expensive,dear,steep,pricey]|[a bit,a little,rather,quite,pretty,very] [steep,high,much,"
        "dear,expensive,pricey]|[better,lower,best,sharper,friendlier,keener,special] [,possible] [price,prices,"
        "offer,rate,rates,terms,deal,conditions,figure]|do [,any,a bit,a little] better|meet [me,us,in,half,"
        "halfway]|[come,go,going,drop] [down,lower,as low,below,under]|[bring,get] [it,that,the,them,your] [,§,"
        "price] [down,to]|[knock,shave,take,cut,chop] [,another,a further,some,a bit,something] [off,PCT,MON]|"
        "[beat,match,undercut] [it,that,this,them,their,the]|what [do,would] you say|not a cent more|[our,my] "
        "[limit,ceiling,maximum,target,counter]|final offer|live with|[than,as] we budgeted|[our,my,the] [margin,"
        "margins]|[stay,remain,stick] with you|[loyal,regular,steady,faithful,good] [customer,customers,buyer,"
        "client]|in [return,exchange]|if you [can,could,make,bring,knock,give,go,lower,drop,reduce,were]|[would,"
        "could,can] you [take,accept,agree,go,do,live,match,beat,sell,lower,reduce,drop,manage,offer,give]|how "
        "about|for the same|room [for,to,on]|wiggle room|some room|[talk,speak,haggle,negotiate] about [the,"
        "your] price|[grant,allow,give] [us,me]|[more,less] than [we,our,i]|[makes,make] [it,no] [hard,difficult,"
        "tough,sense]|[long,longer] term|be flexible|sharpen|pencil"
    ),
    "elsewhere": (
        "[a,another,other,different,rival,your] [competitor,competitors,supplier,suppliers,wholesaler,"
        "wholesalers,seller,vendor,rival,rivals]|[quoted,offered,offering,quotes,offers,asks,charges,sells,"
        "asking,charging,selling] [,it,us,me,them,the same] [,§] [for,at,MON]|[is,are] at MON|has [it,them,§] "
        "[at,for]|somewhere else|[next door,down the street,across town]|[i,we] [can,could] get [it,them,§,the "
        "same]|[somebody,someone] else|has § at|on my desk"
    ),
    "figure": (
        "how much|price [list,lists,sheet]|quote [me,us,for,on]|[a,the] [figure,total,sum] [for,of]|at what "
        "[price,cost,rate,figure]|[price,prices,cost] [for,of,on,per]|what [you,do you,would you,are you,ur] "
        "[ask,charge,sell,have,offer,carry,stock,asking,charging,selling,bill]|do you [sell,carry,have,stock,"
        "offer,supply,deal]|[come,comes,amount,amounts] to|per [unit,bottle,can,bag,piece,case]|[put,draw,work] "
        "[together,up,out] [a,an,the]|no [commitment,obligation]|[your,the] [range,menu,assortment,selection,"
        "lines,offering,products,prices,rates]|what [does,do,would,is,are,will] [CNT,§,the,a,an,your] [,§,price,"
        "prices,cost]|[goes,go,going] for|[indicate,state,name,give,send] [me,us,your,the] [,your,a,the] [price,"
        "prices,quote,figure,best]|request for [quotation,quote,pricing]"
    ),
    "rules": (
        "[minimum,smallest,least] [order,quantity,amount,purchase]|how [long,fast,quickly,soon,many days,late]|"
        "lead [time,times]|up front|on delivery|[payment,your,the,delivery] [terms,policy,conditions,methods]|"
        "[go,send,bring,give] [,them,it] back|[volume,bulk,quantity] [discount,discounts,rebate,rebates,pricing]|"
        "[free,cost of] [delivery,shipping]|cut off|[do,can] you deliver|[days,weeks] to [pay,deliver]|how [do,"
        "does,would,can] [i,we,payment,you,it,delivery]|for how long|[is,are] there [a,an,any]|[what,which] days|"
        "who pays|[at,on] [weekends,weekend,sundays,saturdays]|[stand,stands,valid,good,open] [for,until]|by "
        "when|[buy,buying,order,ordering] [on,with] credit"
    ),
    "cheer": (
        "pleasure [to,doing,working]|hats off|well done|[great,good,nice,excellent,fantastic,superb] [job,work,"
        "service,stuff]|you [are,guys are,folks are,guys,people are] [,simply,truly,really] [,the,a] [best,great,"
        "awesome,amazing,wonderful,star,stars,legend,lifesaver]|[saved,made] [our,my,the] [day,week,weekend]|"
        "spot on|in [,very] [perfect,great,good,top,mint,excellent,fine] [condition,shape,order]|on the dot|"
        "[ahead of,right on,on] [time,schedule]|[could not,couldn't] be [happier,better]|[very,so,really,most,"
        "more than,extremely,quite] [happy,pleased,satisfied,impressed,grateful,thankful,delighted]|much "
        "[obliged,appreciated]|hand it to|[my,our] compliments|[fastest,best,quickest] [delivery,service]|[love,"
        "loved] [it,the,your,how,them]|without a [hitch,scratch]|keep [it up,up the]|[we,i] [appreciate,value] "
        "[your,the,how,it]|tip of the hat|like a charm|first rate|top notch|as promised|exactly as"
    ),
    "grumble": (
        "no way to|not [how,the way,what one]|[nobody,no one,noone,none of you] [has,have,answers,replies,"
        "answered,replied,bothered,cares,responds]|without [a,any] [reply,answer,word,warning,notice,response,"
        "explanation,apology]|[second,third,fourth,fifth,sixth] [time,letter,mail,message,delay,email]|let [us,"
        "me] down|[can't,cannot,can not] go on|[losing,lose,lost,loses] [,us,our,my] [customers,sales,patience,"
        "money,business,trust]|[expect,expected,deserve] [,much] [better,more]|[sick,tired] of|enough is enough|"
        "last straw|[again,time] and [again,time]|every [,single] time|[keep,keeps] [happening,being,on]|[what,"
        "this] kind of|a [joke,disgrace,shame,mess,nuisance]|late again|[days,weeks,hours] late|[take,taking] "
        "[our,my] business|ignored|not [happy,pleased,amused,impressed,satisfied,acceptable,good enough,okay,ok,"
        "fair,serious]|far from|leaves much|want an [explanation,apology]|[poor,bad,terrible,awful,horrible,"
        "lousy] [service,quality,communication,experience]|how [hard,difficult] [can,is]|[your,the] [attitude,"
        "behaviour,behavior]|not [answered,replied]"
    ),
    "tells": (
        "for [your,our] [information,records,files]|[just,only] [so,to] [you,let] [you,know]|just letting|[we,i] "
        "[sold,moved,have,hold,noted,had,got,saw]|[our,my,the] [stock,storage,inventory,cash,balance,machine,"
        "sales,shelves,shelf]|in [stock,storage,the machine]|as of|last [week,month,quarter,time,night,year]|"
        "[this,yesterday] morning|at [present,the moment]|[plan,plans,agenda,notes,summary,report] [for,of,:]|"
        "[is,are,was,were] [full,empty,closed,gone,fine,locked]|no [action,reply,answer,need,response] [,is] "
        "[needed,required,necessary]|[please,kindly] note|[be,been] [informed,aware]|meant for [someone,somebody,"
        "another]|[he,she,they,it] [says,said,told,thinks,wants]|automated [message,reply]|out of office|by "
        "[myself,ourselves]|[reminder,note] to"
    ),
    "bring": (
        "on [our,the,my] [account,tab]|to [our,the,my] account|bill [us,me,it,to,the]|charge [it,us,the,our,my,"
        "me,everything]|same [address,place,as,again,conditions,terms]|[usual,regular,normal] [address,place,"
        "terms,account,price,prices,way]|as [usual,always,before,ever,last time]|[the,your] next [truck,delivery,"
        "run,van,round,tour]|on [the,your] truck|[drop,leave,bring,put] [it,them,those,these] [off,at,on,with,by,"
        "over,in,round]|as soon as|[right,straight] away|at once|by return|at your earliest|[send,ship,deliver,"
        "dispatch,rush,bring] [it,them,those,these,us,me,over,along,out,the,CNT,NUM,§,everything]|[from,off,"
        "against] [our,my,the] [account,balance]|[our,the,my] [address,account]|[treat,regard,take,consider] "
        "this [,message,letter,mail,document] as|[firm,binding,official,written,formal] order|[at,to] the "
        "[loading dock,reception,front desk,back door]"
    ),
    "wish": (
        "[we'd,i'd,we would,i would,would] [,really,also] [like,love,want,need,take,be glad,be happy,be pleased,"
        "appreciate]|[we'll,i'll,we will,i will,we,i,we shall] [take,have,go for,need,want,buy,order,purchase,"
        "require]|[CNT,§] [for,to] [us,me]|[put,mark] [me,us] down|sign [me,us] up|let [me,us] have|[get,grab] "
        "[me,us,CNT,§]|[we,i] [are,am] [buying,ordering,taking,going for]|[another,additional,further] [CNT,NUM]|"
        "[CNT,NUM] more|[this,for this] [time,round,week]|it is|that's [all,it]|nothing else|same again|in [,a] "
        "addition|coming back for|[can,could,may] [we,i] [get,have,grab,order,buy,take]|can u|running [low,out]|"
        "run out|[sold,we're,are] out|[first,next,our,my,repeat,trial,weekly] [purchase,order] [is,:,of,for]|"
        "[decided,settled,chosen,ready] [on,to,for]|[top,fill,stock] [up,it up,us up]|[what,here] [we,i,is] [,"
        "what] [need,want,would like,we want,we need]"
    ),
    "unreal": (
        "would have|[had,were,should] [we,i,you,the,they]|if [only,ever,we,i,you,the,it,they,there]|[i,we] wish|"
        "what if|in [principle,theory]|[i,we] [dreamt,dreamed,imagine,imagined]|[might,may] [need,want,order,be,"
        "buy,come]|[somebody,someone,my colleague,my boss] [says,said,told,wanted,talked]|it would [only,be,"
        "make]|unless|provided|as long as|in case|depending on|only if|until then"
    ),
}
"""By the name of a turn: the words that do it, with bars between them. A bracket is one of its words, or none; capitals
stand for numbers as in `features`."""

_BRACKET = re.compile(r"\[([^\]]*)\]")
_LONGEST = 7


@dataclass(slots=True)
class _Step:
    """The words that may follow, and the turns that end here."""

    following: dict[str, "_Step"] = field(default_factory=dict[str, "_Step"])
    names: set[str] = field(default_factory=set[str])


def _written_out(turn: str) -> Iterator[tuple[str, ...]]:
    """The words of a turn with each choice of its brackets."""
    parts = _BRACKET.split(turn)
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    for chosen in product(*choices):
        yield tuple(word if word.isupper() or not word.isascii() else stem(word) for word in "".join(chosen).split())


@lru_cache(maxsize=1)
def _tree() -> _Step:
    """The words of all turns as a tree."""
    root = _Step()
    for name, turns in _TURNS.items():
        for words in (words for turn in turns.split("|") for words in _written_out(turn)):
            step = root
            for word in words:
                step = step.following.setdefault(word, _Step())
            step.names.add(name)
    return root


def turns_in(words: Sequence[str]) -> set[str]:
    """The names of the turns in a row of stems."""
    root = _tree()
    found: set[str] = set()
    for start in range(len(words)):
        step: _Step | None = root
        for word in words[start : start + _LONGEST]:
            step = step.following.get(word)
            if step is None:
                break
            found |= step.names
    return found
