import sys

import every
from every.exceptions import BadRequestException

with every.ApiClient(every.Configuration(host=sys.argv[1])) as client:
    api = every.EveryDescriptorApi(client)
    for amount in [2, 0]:
        # The constructor itself refuses an amount below the minimum.
        tea = every.Item.model_construct(name="tea", amount=amount)
        order = every.TotalRequest.model_construct(items=[tea, every.Item(name="cup")])
        try:
            answer = api.total_with_http_info(order)
            print(answer.status_code, int(answer.data.total))
        except BadRequestException as refused:
            print(refused.status, refused.data.code, refused.data.reason)
