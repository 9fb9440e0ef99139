"""Words by what they mean in letters of trade, English by their stems and Japanese as they are written."""

import re
from collections.abc import Mapping
from functools import lru_cache

_ENGLISH: Mapping[str, str] = {
    "buy": "order reorder purchase buy procure acquire preorder",
    "ship": (
        "send ship deliver dispatch despatch supply forward bring rush transport drop throw fulfil "
        "fulfill pack prepare arrange schedule provide furnish"
    ),
    "book": "enter book log register add put place submit process execute proceed reserve allocate",
    "want": "want wish like love need require desire fancy prefer",
    "please": "please kindly pls plz grateful appreciate oblige glad",
    "price": "price pricing cost rate tariff fee expensive cheap wholesale pricelist",
    "quote": "quote quotation estimate rfq offer bid proposal",
    "charge": "charge debit bill invoice deduct",
    "catalogue": (
        "catalogue catalog assortment range selection product item goods article sku line brochure portfolio"
    ),
    "sell": "sell stock carry keep available availability supply",
    "terms": (
        "term condition policy minimum moq lead freight shipping surcharge payment prepay prepayment "
        "credit schedule weekend weekday saturday sunday holiday cutoff notice deposit net validity valid "
        "rule"
    ),
    "discount": "discount rebate reduction reduce saving bulk volume",
    "haggle": (
        "negotiate bargain counteroffer counter match beat lower cheaper better flexible flexibility "
        "wiggle leeway sharpen shave sweeten haggle compromise margin ceiling afford expensive generous "
        "concession knock trim room budge steep high deal undercut lowest best competitive"
    ),
    "rival": "competitor competition rival elsewhere wholesaler another other alternative competing",
    "status": (
        "status update track tracking whereabouts eta when where arrive arrival due expect overdue "
        "delayed outstanding pending open underway progress dispatched shipped transit"
    ),
    "accept": (
        "accept approve agree confirm confirmed approval acceptance ok okay fine good great perfect "
        "awesome yes deal sure acceptable satisfactory authorise authorize signed settled suit suitable "
        "happy green works sound"
    ),
    "go": "go ahead proceed forward execute finalize finalise convert turn",
    "cancel": (
        "cancel cancellation scrap void revoke withdraw rescind annul kill drop retract abort undo nix "
        "remove delete scratch disregard ignore halt stop unnecessary"
    ),
    "change": (
        "change amend amendment modify modification revise revision adjust adjustment alter edit correct "
        "correction update increase decrease raise reduce bump cut switch swap replace substitute instead "
        "typo mistake meant"
    ),
    "more": "more extra additional further increase raise up",
    "less": "less fewer decrease cut down",
    "damaged": (
        "damage broken burst crush smash leak dent crack tear torn rip spoil rotten rot mouldy moldy mold "
        "mould melt stale expire defective faulty wet soggy wilt brown squash unsellable unusable opened "
        "punctured bent spoilt bad soaked contaminate sour unfit crumble ruin shatter"
    ),
    "missing": (
        "miss missing short shortage shortfall lack absent incomplete discrepancy undersupplied wrong "
        "incorrect mixup mismatch unaccounted"
    ),
    "refund": (
        "refund reimburse reimbursement credit compensate compensation replacement money claim redeliver restitution"
    ),
    "arrive": (
        "arrive receive get got come came delivery delivered consignment shipment parcel box carton crate unpack count"
    ),
    "anger": (
        "unacceptable disappoint unhappy dissatisfied frustrate angry annoy upset terrible awful horrible "
        "ridiculous poor unprofessional rude sloppy unreliable complaint complain regret furious "
        "outrageous disgrace shame inexcusable irritate worst tired patience dismay displeased appall "
        "careless negligent slow unpunctual intolerable displeasure"
    ),
    "late": "late delay tardy again repeatedly overdue behind",
    "thank": "thank thanks thx cheers grateful gratitude appreciation appreciate bless kudos",
    "praise": (
        "quick fast prompt swift excellent smooth careful kind helpful reliable friendly punctual great "
        "lovely superb impeccable pleased delighted"
    ),
    "not": (
        "not no never none nothing cannot cant dont wont didnt isnt arent wasnt werent havent hasnt "
        "couldnt wouldnt nor neither without nobody doesnt unable decline refuse reject pass"
    ),
    "maybe": (
        "maybe perhaps might may possibly probably consider contemplate plan think intend hope unsure "
        "undecided tentative review evaluate eventually someday sometime later soon"
    ),
    "if": "if unless once until whether suppose supposing provided assuming case otherwise before",
    "past": "yesterday ago last previous earlier sold bought was were had been previously",
    "future": "tomorrow next month future will shall going june july august summer winter spring autumn",
    "today": "today now immediately asap urgent hereby herewith firm binding official once",
    "what": "what which how who why",
    "you": "you your yours",
    "we": "we i us me our my",
    "can": "can could would will may able possible",
    "tell": "tell inform advise know explain clarify hear learn list describe specify indicate state",
    "following": "following below follows undermentioned listed attached",
}
_JAPANESE: Mapping[str, str] = {
    "buy": "注文 発注 購入 買い オーダー 仕入れ",
    "ship": "送っ 送り お送り 送付 発送 届け お届け 配達 配送 納品 手配 出荷",
    "please": (
        "お願い ください 下さい いただけ 頂け 頂き いただき 願い 賜り ほしい 欲しい もらえ くれ 幸い "
        "ちょうだい 頼む 頼み"
    ),
    "price": "価格 値段 単価 卸値 卸売 いくら 料金 定価 おいくら 費用",
    "quote": "見積 お見積 ご見積",
    "charge": "請求 引き落と 口座 支払",
    "catalogue": "商品 一覧 カタログ 取り扱 取扱 リスト 品揃え 在庫あ ラインナップ",
    "terms": ("条件 最低 送料 納期 日数 支払方法 何日 リードタイム 締め 土日 有効期限 手数料 返品 曜日 翌日 ロット"),
    "discount": "割引 値引 引き まとめ買 ディスカウント",
    "haggle": "安く お安 値下 まけて 交渉 勉強 割高 高い 高め 下げ もう少し 予算 セント ドル",
    "rival": "他社 他の業者 別の業者 競合 よそ 別の会社",
    "status": ("いつ 状況 どうなって 届いて まだ 未着 未納 遅れ 到着 届く 追跡 進捗 どこ 来ない 来ません 届きません"),
    "accept": "承諾 承認 了承 確定 決定 問題 受け入れ 結構 OK 了解 決め 同意 承知 進めて 異存 合意",
    "cancel": "キャンセル 取り消 取消 取りやめ なし やめ 中止 不要 撤回 破棄 要らな いらな 見合わせ",
    "change": "変更 修正 訂正 増や 減ら 差し替え ではなく じゃなく 間違え 誤り 改め 代わり",
    "damaged": "破損 壊れ 割れ つぶれ 潰れ 腐 漏れ 傷 汚れ 期限切れ 溶け へこ 破れ 不良 カビ 濡れ 折れ 傷み",
    "missing": "不足 足り 欠品 入っておら 入ってい 入ってな しか届 違う 誤配 間違って 少な 足りな 欠け",
    "refund": "返金 返品 交換 補償 返して 弁償 クレジット 再送",
    "anger": (
        "残念 遺憾 困って 困り 不満 ひどい 失望 がっかり 改善 迷惑 遅すぎ 腹 怒 我慢 最悪 対応が悪 クレーム 度重な"
    ),
    "thank": "ありがと 感謝 御礼 お礼 助かっ 助かり",
    "not": "ません ない なく いらない 辞退 見送 断 ず、 結構です 大丈夫",
    "maybe": "検討 予定 かも つもり 考え 協議 未定 待って 後日 来週 来月 今度 たぶん そのうち 相談",
    "if": "場合 たら れば なら もし",
    "past": "先日 昨日 先週 先月 売れ ました 前回",
    "today": "本日 今日 至急 急ぎ 正式",
    "what": "何 どの どちら どれ 教え ですか ますか でしょうか ご教示 お聞かせ お知らせ",
    "following": "下記 以下 次の 左記",
}

_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ied", "ies", "ed", "es", "ly", "s", "e", "y")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word of lower-case letters without its ending."""
    word = word.replace("'", "")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


MEANINGS: Mapping[str, tuple[str, ...]] = {
    word: tuple(meaning for meaning, words in _ENGLISH.items() if word in {stem(each) for each in words.split()})
    for word in {stem(each) for words in _ENGLISH.values() for each in words.split()}
}
"""The meanings of a stem."""
_BY_FORM = {form: meaning for meaning, forms in _JAPANESE.items() for form in forms.split()}
_FORMS = re.compile("|".join(sorted(map(re.escape, _BY_FORM), key=len, reverse=True)))


def japanese_meanings(text: str) -> list[str]:
    """The meanings of the forms in a text, in their order."""
    return [_BY_FORM[found[0]] for found in _FORMS.finditer(text)]
